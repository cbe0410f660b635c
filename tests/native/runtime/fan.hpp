// The network of network/fan, written by hand in the form that generated actors have.
#pragma once

#include <array>
#include <cstdint>

#include "dse/actor.hpp"

namespace fan {

inline constexpr std::int64_t source_tokens = 20011;

class Source final : public dse::Actor {
 public:
  explicit Source(const dse::Wires& wires) : Actor(wires), ports_(wires) {}
  void start() override {}
  void run(std::int64_t budget) override { dse::resume(*this, budget); }
  bool news() override { return dse::any_news(ports_, condition); }

  template <class Timer>
  void fire(std::int64_t budget) {
    dse::Visit<Ports, dse::NarrowId, Timer> visit(*this, ports_);
    Ports& p = visit.ports;
    for (; budget != 0; --budget) {
      if (!(k_ < source_tokens)) {
        return;
      }
      if (p.out0.room() < 1) {
        visit.outcome = dse::Condition::lacks_room;
        return;
      }
      visit.chose(0);
      visit.have_read(0);
      const std::int32_t v = k_;
      k_ = k_ + 1;
      visit.computed(0);
      p.out0.put(v);
      visit.fired(0);
    }
    visit.outcome = dse::Condition::ready;
  }
  void explain(std::vector<dse::Wait>& waits) override {
    if (!(k_ < source_tokens)) {
      waits.push_back({.action = 0, .kind = dse::WaitKind::guard});
      return;
    }
    Ports p = ports_;
    p.out0.refresh();
    if (p.out0.room() < 1) {
      waits.push_back({.action = 0, .kind = dse::WaitKind::room, .port = 0, .have = p.out0.room(), .need = 1});
    }
  }

 private:
  struct Ports {
    explicit Ports(const dse::Wires& wires) : out0(wires.outputs[0]) {}
    template <class Do>
    void each(Do&& act) {
      act(out0);
    }
    dse::Writer<std::int32_t, 1> out0;
  };
  Ports ports_;
  std::int32_t k_ = 0;
};

class Split final : public dse::Actor {
 public:
  explicit Split(const dse::Wires& wires) : Actor(wires), ports_(wires) {}
  void start() override {}
  void run(std::int64_t budget) override { dse::resume(*this, budget); }
  bool news() override { return dse::any_news(ports_, condition); }

  template <class Timer>
  void fire(std::int64_t budget) {
    dse::Visit<Ports, dse::NarrowId, Timer> visit(*this, ports_);
    Ports& p = visit.ports;
    for (; budget != 0; --budget) {
      if (p.in0.count() >= 2 && p.in0[0] % 3 == 0) {
        if (p.out0.room() < 1) {
          visit.outcome = dse::Condition::lacks_room;
          return;
        }
        visit.chose(0);
        const std::int32_t a = p.in0[0];
        const std::int32_t b = p.in0[1];
        p.in0.consume(2);
        visit.have_read(0);
        visit.computed(0);
        p.out0.put(a + b);
        visit.fired(0);
        continue;
      }
      if (p.in0.count() >= 1 && p.in0[0] % 3 != 0) {
        if (p.out1.room() < 1) {
          visit.outcome = dse::Condition::lacks_room;
          return;
        }
        visit.chose(1);
        const std::int32_t a = p.in0[0];
        p.in0.consume(1);
        visit.have_read(1);
        visit.computed(1);
        p.out1.put(a);
        visit.fired(1);
        continue;
      }
      return;
    }
    visit.outcome = dse::Condition::ready;
  }
  void explain(std::vector<dse::Wait>& waits) override {
    Ports p = ports_;
    p.each([](auto& port) { port.refresh(); });
    explain_one(waits, p, 0, 2);
    explain_one(waits, p, 1, 1);
  }

 private:
  struct Ports {
    explicit Ports(const dse::Wires& wires)
        : in0(wires.inputs[0]), out0(wires.outputs[0]), out1(wires.outputs[1]) {}
    template <class Do>
    void each(Do&& act) {
      act(in0);
      act(out0);
      act(out1);
    }
    dse::Reader<std::int32_t> in0;
    dse::Writer<std::int32_t, 1> out0;
    dse::Writer<std::int32_t, 1> out1;
  };
  static void explain_one(std::vector<dse::Wait>& waits, Ports& p, int action, std::int64_t need) {
    const std::int64_t room = action == 0 ? p.out0.room() : p.out1.room();
    if (p.in0.count() < need) {
      waits.push_back(
          {.action = action, .kind = dse::WaitKind::tokens, .port = 0, .have = p.in0.count(), .need = need});
    } else if ((p.in0[0] % 3 == 0) != (action == 0)) {
      waits.push_back({.action = action, .kind = dse::WaitKind::guard});
    } else if (room < 1) {
      waits.push_back({.action = action, .kind = dse::WaitKind::room, .port = action, .have = room, .need = 1});
    }
  }
  Ports ports_;
};

class Sum final : public dse::Actor {
 public:
  explicit Sum(const dse::Wires& wires) : Actor(wires), ports_(wires) {}
  void start() override {
    dse::Visit<Ports> visit(*this, ports_);
    Ports& p = visit.ports;
    if (p.out1.room() < 1) {
      return;
    }
    visit.chose(1);
    visit.have_read(1);
    visit.computed(1);
    p.out1.put(0);
    meet(p.in1, p.out1);
    visit.fired(1);
  }
  void run(std::int64_t budget) override { dse::resume(*this, budget); }
  bool news() override { return dse::any_news(ports_, condition); }

  template <class Timer>
  void fire(std::int64_t budget) {
    dse::Visit<Ports, dse::NarrowId, Timer> visit(*this, ports_);
    Ports& p = visit.ports;
    for (; budget != 0; --budget) {
      if (!(p.in0.count() >= 1 && p.in1.count() >= 1)) {
        return;
      }
      if (p.out0.room() < 1 || p.out1.room() < 1) {
        visit.outcome = dse::Condition::lacks_room;
        return;
      }
      visit.chose(0);
      const std::int32_t x = p.in0[0];
      p.in0.consume(1);
      const std::int32_t s = p.in1[0];
      p.in1.consume(1);
      visit.have_read(0);
      visit.computed(0);
      p.out0.put(s + x);
      p.out1.put(s + x);
      meet(p.in1, p.out1);
      visit.fired(0);
    }
    visit.outcome = dse::Condition::ready;
  }
  void explain(std::vector<dse::Wait>& waits) override {
    Ports p = ports_;
    p.each([](auto& port) { port.refresh(); });
    if (p.in0.count() < 1) {
      waits.push_back({.action = 0, .kind = dse::WaitKind::tokens, .port = 0, .have = p.in0.count(), .need = 1});
    } else if (p.in1.count() < 1) {
      waits.push_back({.action = 0, .kind = dse::WaitKind::tokens, .port = 1, .have = p.in1.count(), .need = 1});
    } else if (p.out0.room() < 1) {
      waits.push_back({.action = 0, .kind = dse::WaitKind::room, .port = 0, .have = p.out0.room(), .need = 1});
    } else if (p.out1.room() < 1) {
      waits.push_back({.action = 0, .kind = dse::WaitKind::room, .port = 1, .have = p.out1.room(), .need = 1});
    }
  }

 private:
  struct Ports {
    explicit Ports(const dse::Wires& wires)
        : in0(wires.inputs[0]), in1(wires.inputs[1]), out0(wires.outputs[0]), out1(wires.outputs[1]) {}
    template <class Do>
    void each(Do&& act) {
      act(in0);
      act(in1);
      act(out0);
      act(out1);
    }
    dse::Reader<std::int32_t> in0;
    dse::Reader<std::int32_t> in1;
    dse::Writer<std::int32_t, 1> out0;
    dse::Writer<std::int32_t, 1> out1;
  };
  Ports ports_;
};

class Sink final : public dse::Actor {
 public:
  Sink(const dse::Wires& wires, bool idles) : Actor(wires), ports_(wires), idles_(idles) {}
  void start() override {}
  void run(std::int64_t budget) override { dse::resume(*this, budget); }
  bool news() override { return dse::any_news(ports_, condition); }

  template <class Timer>
  void fire(std::int64_t budget) {
    dse::Visit<Ports, dse::NarrowId, Timer> visit(*this, ports_);
    Ports& p = visit.ports;
    for (; budget != 0; --budget) {
      if (p.in0.count() >= 4) {
        visit.chose(0);
        std::array<std::int32_t, 4> v{};
        p.in0.copy(v.data(), 0, 4);
        p.in0.consume(4);
        visit.have_read(0);
        for (const std::int32_t one : v) {
          sum_ += one;
        }
        visit.computed(0);
        visit.fired(0);
      } else if (p.in1.count() >= 1) {
        visit.chose(1);
        const std::int32_t b = p.in1[0];
        p.in1.consume(1);
        visit.have_read(1);
        sum_ -= b;
        visit.computed(1);
        visit.fired(1);
      } else if (idles_) {
        visit.chose(2);
        visit.have_read(2);
        visit.computed(2);
        visit.fired(2);
      } else {
        return;
      }
    }
    visit.outcome = dse::Condition::ready;
  }
  void explain(std::vector<dse::Wait>& waits) override {
    Ports p = ports_;
    p.each([](auto& port) { port.refresh(); });
    if (p.in0.count() < 4) {
      waits.push_back({.action = 0, .kind = dse::WaitKind::tokens, .port = 0, .have = p.in0.count(), .need = 4});
    }
    if (p.in1.count() < 1) {
      waits.push_back({.action = 1, .kind = dse::WaitKind::tokens, .port = 1, .have = p.in1.count(), .need = 1});
    }
    if (!idles_) {
      waits.push_back({.action = 2, .kind = dse::WaitKind::guard});
    }
  }

 private:
  struct Ports {
    explicit Ports(const dse::Wires& wires) : in0(wires.inputs[0]), in1(wires.inputs[1]) {}
    template <class Do>
    void each(Do&& act) {
      act(in0);
      act(in1);
    }
    dse::Reader<std::int32_t> in0;
    dse::Reader<std::int32_t> in1;
  };
  Ports ports_;
  const bool idles_;
  std::int64_t sum_ = 0;
};

template <class Kind>
dse::Actor* make(const dse::Wires& wires) {
  return new Kind(wires);
}

template <bool idles>
dse::Actor* make_sink(const dse::Wires& wires) {
  return new Sink(wires, idles);
}

inline constexpr const char* in_name[] = {"In", "Back"};
inline constexpr const char* out_name[] = {"Out", "Next"};
inline constexpr const char* two_names[] = {"A", "B"};
inline constexpr dse::ActionInfo source_actions[] = {{"emit", true, false}};
inline constexpr dse::ActionInfo split_actions[] = {{"pair", true, false}, {"one", true, false}};
inline constexpr dse::ActionInfo sum_actions[] = {{"add", true, false}, {"start", true, true}};
inline constexpr dse::ActionInfo sink_actions[] = {{"four", true, false}, {"one", true, false}, {"idle", false, false}};

inline constexpr dse::ActorInfo source_info = {"source",           "fan.Source", &make<Source>, source_actions, {},
                                               std::span(out_name, 1), {},           {},            {},             0,
                                               false};
inline constexpr dse::ActorInfo split_info = {
    "split", "fan.Split", &make<Split>, split_actions, std::span(in_name, 1), two_names, {}, {}, {}, 0, false};
inline constexpr dse::ActorInfo sum_info = {
    "sum", "fan.Sum", &make<Sum>, sum_actions, in_name, out_name, {}, {}, {}, 0, false};
template <bool idles>
inline constexpr dse::ActorInfo sink_info = {
    "sink", "fan.Sink", &make_sink<idles>, sink_actions, two_names, {}, {}, {}, {}, 0, false};

template <bool idles>
inline constexpr dse::ActorInfo actors[] = {source_info, split_info, sum_info, sink_info<idles>};
inline constexpr dse::ConnectionInfo connections[] = {
    {"source.Out->split.In", 0, 0, 1, 0, &dse::make_fifo<std::int32_t>, 0, 2},
    {"split.A->sum.In", 1, 0, 2, 0, &dse::make_fifo<std::int32_t>, 0, 1},
    {"sum.Next->sum.Back", 2, 1, 2, 1, &dse::make_fifo<std::int32_t>, 0, 1},
    {"sum.Out->sink.A", 2, 0, 3, 0, &dse::make_fifo<std::int32_t>, 0, 4},
    {"split.B->sink.B", 1, 1, 3, 1, &dse::make_fifo<std::int32_t>, 0, 1},
};
template <bool idles>
inline constexpr dse::NetworkInfo network = {"fan", actors<idles>, connections};

}  // namespace fan
