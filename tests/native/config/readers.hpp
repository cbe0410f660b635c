// Reads documents that it gets on standard input, one after the other, and says what it understood or what is wrong.
//
// A request is a u32 of fields, each a u32 of bytes and these; an answer is a u32 of bytes and these, a JSON document.
//   xml DOCUMENT                          the tree
//   xcf PATH DOCUMENT NETWORK...          the mapping, sizes filled in
//   bxdf PATH DOCUMENT NETWORK...         the sizes
//   shown TEXT, cells TEXT                what a terminal gets, how wide it is
//   near NAME KNOWN...                    the sentence with the nearest names
//   integer TEXT LEAST MOST               the number or null
//   singly PATH                           the actions of network fan that are timed one by one
// NETWORK is: name, number of actors, of each its name, number of inputs, inputs, number of outputs, outputs; then for
// each connection source, port, target, port, declared tokens, least tokens.
#pragma once

#include <cstdint>
#include <cstdio>
#include <deque>
#include <string>
#include <vector>

#include "../runtime/fan.hpp"
#include "dse/bxdf.hpp"
#include "dse/json.hpp"
#include "dse/mapping_json.hpp"
#include "dse/singly.hpp"
#include "dse/xcf.hpp"

namespace readers {

inline bool read_number(std::uint32_t& number) { return std::fread(&number, sizeof number, 1, stdin) == 1; }

inline bool read_fields(std::vector<std::string>& fields) {
  std::uint32_t count = 0;
  if (!read_number(count)) {
    return false;
  }
  fields.assign(count, "");
  for (std::string& field : fields) {
    std::uint32_t size = 0;
    if (!read_number(size)) {
      return false;
    }
    field.resize(size);
    if (size != 0 && std::fread(field.data(), size, 1, stdin) != 1) {
      return false;
    }
  }
  return true;
}

inline void answer(const std::string& text) {
  const auto size = static_cast<std::uint32_t>(text.size());
  std::fwrite(&size, sizeof size, 1, stdout);
  std::fwrite(text.data(), text.size(), 1, stdout);
  std::fflush(stdout);
}

/// A network that is made while the program runs.
class Network {
 public:
  explicit Network(const std::string* field) {
    name_ = *field++;
    for (int left = std::stoi(*field++); left > 0; --left) {
      dse::ActorInfo& actor = actors_.emplace_back();
      actor.name = field++->c_str();
      actor.inputs = names(field);
      actor.outputs = names(field);
    }
    for (int left = std::stoi(*field++); left > 0; --left, field += 6) {
      dse::ConnectionInfo& connection = connections_.emplace_back();
      connection.source = std::stoi(field[0]);
      connection.source_port = std::stoi(field[1]);
      connection.target = std::stoi(field[2]);
      connection.target_port = std::stoi(field[3]);
      connection.declared_tokens = std::stoll(field[4]);
      connection.least_tokens = std::stoll(field[5]);
    }
    info = {name_.c_str(), actors_, connections_};
  }

  dse::NetworkInfo info;

 private:
  std::span<const char* const> names(const std::string*& field) {
    std::vector<const char*>& list = lists_.emplace_back();
    for (int left = std::stoi(*field++); left > 0; --left) {
      list.push_back(field++->c_str());
    }
    return list;
  }

  std::string name_;
  std::vector<dse::ActorInfo> actors_;
  std::vector<dse::ConnectionInfo> connections_;
  std::deque<std::vector<const char*>> lists_;
};

inline void write_tree(dse::JsonWriter& json, const dse::xml::Document& document, const dse::xml::Element& element) {
  const dse::Place place = document.place(element);
  json.open_object().key("tag").value(element.space.empty() ? element.name : "{" + element.space + "}" + element.name);
  json.key("text").value(element.text);
  json.key("place").list(std::vector<std::int64_t>{place.line, place.column, place.end_line, place.end_column});
  json.key("attributes").open_list();
  for (const dse::xml::Attribute& one : element.attributes) {
    const dse::Place at = document.place(one);
    json.open_list().value(one.space.empty() ? one.name : "{" + one.space + "}" + one.name).value(one.value);
    json.list(std::vector<std::int64_t>{at.line, at.column, at.end_line, at.end_column}).close_list();
  }
  json.close_list().key("children").open_list();
  for (const auto& child : element.children) {
    write_tree(json, document, *child);
  }
  json.close_list().close_object();
}

inline std::string tree(const std::string& text) {
  const dse::xml::Document document("document", text);
  dse::JsonWriter json;
  json.open_object().key("tree");
  write_tree(json, document, document.root());
  return json.close_object().text();
}

inline std::string mapping(const std::vector<std::string>& fields) {
  const Network network(&fields[3]);
  const dse::NetworkNames names(network.info);
  const dse::xml::Document document(fields[1], fields[2]);
  dse::Mapping mapping;
  if (fields[0] == "xcf") {
    mapping = dse::read_xcf(document, names);
    dse::fill_capacities(network.info, dse::default_fifo_tokens, mapping.capacities);
  } else {
    mapping.capacities = dse::read_bxdf(document, names);
  }
  return dse::mapping_json(names, mapping);
}

inline std::string number(const std::vector<std::string>& fields) {
  const auto value = dse::integer_from(fields[1], std::stoll(fields[2]), std::stoll(fields[3]));
  return value ? std::to_string(*value) : "null";
}

inline std::string result(const std::vector<std::string>& fields) {
  const std::string& kind = fields[0];
  if (kind == "xml") {
    return tree(fields[1]);
  }
  if (kind == "shown") {
    return dse::json_string(dse::shown_lines(fields[1]));
  }
  if (kind == "cells") {
    return std::to_string(dse::cells(fields[1]));
  }
  if (kind == "near") {
    return dse::json_string(dse::nearest_names(fields[1], {fields.begin() + 2, fields.end()}));
  }
  if (kind == "singly") {
    dse::JsonWriter json;
    json.open_list();
    for (const auto& [actor, action] : dse::detail::read_singly(fields[1], fan::network<false>)) {
      json.list(std::vector<int>{actor, action});
    }
    return json.close_list().text();
  }
  return kind == "integer" ? number(fields) : mapping(fields);
}

inline std::string errors(const dse::ConfigError& error) {
  dse::JsonWriter json;
  json.open_object().key("errors").open_list();
  for (const dse::Diagnostic& one : error.diagnostics()) {
    json.open_object().key("message").value(one.message).key("expected").value(one.expected);
    const dse::Place& at = one.place;
    json.key("place").list(std::vector<std::int64_t>{at.line, at.column, at.end_line, at.end_column});
    json.key("text").value(dse::render(one)).close_object();
  }
  return json.close_list().close_object().text();
}

/// Answer requests until there are none.
inline int serve() {
  std::vector<std::string> fields;
  while (read_fields(fields)) {
    try {
      answer(result(fields));
    } catch (const dse::ConfigError& error) {
      answer(errors(error));
    }
  }
  return 0;
}

}  // namespace readers
