// Bodies of dse/natives/access.hpp.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dse/errors.hpp"
#include "dse/natives/access.hpp"
#include "dse/natives/bodies/open_file.hpp"
#include "dse/natives/bodies/paths.hpp"
#include "dse/run_types.hpp"

namespace dse::natives {

namespace detail {

// Links were followed before, and a pipe that took the place of a file must not be waited for.
inline constexpr int open_flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
inline constexpr mode_t new_file_mode = 0666;

/// Throws Fault for a name that no file can have.
inline void require_name(const std::string& name) {
  if (name.find('\0') == name.npos) return;
  throw Fault("the program opens '" + shown_name(name) + "', which is no name of a file");
}

[[noreturn]] inline void refuse_opening(const std::string& shown, int error) {
  throw Fault("cannot open '" + shown + "': " + error_text(error));
}

[[noreturn]] inline void refuse_access(const std::string& verb, const std::string& shown, const std::string& path,
                                       const std::string& place, const std::string& where, const std::string& advice) {
  const std::string led = paths::absolute(path) != place ? " (a link leads to '" + place + "')" : "";
  throw Fault("the program may not " + verb + " '" + shown + "'" + led + ": that is " + where, -1, advice);
}

/// Throws Fault for a folder, a device or a pipe.
inline void require_regular(mode_t mode, const std::string& shown) {
  if (S_ISDIR(mode)) refuse_opening(shown, EISDIR);
  if (!S_ISREG(mode)) {
    throw Fault("the program may not open '" + shown + "': it is no regular file but a device or a pipe", -1,
                "such a file can only be given by -i, -y, -o or -w");
  }
}

/// Throws Fault unless what is at a place, if there is anything, is a regular file.
inline void require_regular_place(const std::string& place, const std::string& shown) {
  if (!paths::exists(place)) return;
  const auto status = paths::status_of(place, true);
  if (!status) refuse_opening(shown, errno);
  require_regular(status->st_mode, shown);
}

/// Opens a place whose links were followed; it must still be a regular file there when it is open.
inline int open_place(const std::string& place, int flags, const std::string& shown) {
  require_regular_place(place, shown);  // opening a device may already do something
  Descriptor file(
      uninterrupted([&] { return ::open(place.c_str(), (flags & ~O_TRUNC) | open_flags, new_file_mode); }));
  if (file.number() < 0) refuse_opening(shown, errno);
  struct stat status {};
  if (fstat(file.number(), &status) != 0) refuse_opening(shown, errno);
  require_regular(status.st_mode, shown);
  if (paths::resolved(place, shown) != place) {
    throw Fault("'" + shown + "' was replaced by a link while it was opened");
  }
  if ((flags & O_TRUNC) != 0 && ftruncate(file.number(), 0) != 0) refuse_opening(shown, errno);
  return file.release();
}

inline FilePointer opened(const std::string& place, int flags, const std::string& shown) {
  const auto mode = (flags & O_RDWR) != 0 ? OpenFile::Mode::both : OpenFile::Mode::read;
  Descriptor file(open_place(place, flags, shown));
  auto result = std::make_shared<OpenFile>(file.number(), mode);
  file.release();
  return result;
}

/// Makes a folder and those above it; returns whether it is there now, else errno says why not.
inline bool make_folders(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return true;
  const std::string above = paths::folder_of(path);
  if (errno == ENOENT && above != path) {
    if (!make_folders(above)) return false;
    if (mkdir(path.c_str(), 0777) == 0) return true;
  }
  const int error = errno;
  if (paths::is_folder(path)) return true;
  errno = error;
  return false;
}

/// Puts a new empty file in the place of what is there: another name of the old file keeps its content.
inline void make_file(const std::string& place, const std::string& shown) {
  const auto require = [&shown](bool done) {
    if (done) return;
    throw Fault("cannot write '" + shown + "': " + error_text(errno), -1, "choose another folder with --files DIR");
  };
  require(make_folders(paths::folder_of(place)));
  if (paths::exists(place)) {
    const auto status = paths::status_of(place, true);
    require(status.has_value());
    require_regular(status->st_mode, shown);
    require(unlink(place.c_str()) == 0);
  }
  const Descriptor file(uninterrupted(
      [&] { return ::open(place.c_str(), O_WRONLY | O_CREAT | O_EXCL | open_flags, new_file_mode); }));
  require(file.number() >= 0);
}

/// Copies all of a file to another.
inline void copy_file(OpenFile& from, OpenFile& to) {
  constexpr std::int64_t piece_bytes = 1 << 16;
  for (;;) {
    const std::vector<std::uint8_t> data = from.read(piece_bytes);
    if (data.empty()) return;
    to.write(data);
  }
}

}  // namespace detail

FileAccess::FileAccess(const RunOptions& options, const std::string& home, const std::string& files)
    : options_(options), home_(paths::tidy(home)), files_(paths::tidy(files)) {
  const auto refuse = [](const std::string& message, const std::string& expected) {
    throw ConfigError(Diagnostic{message, {}, expected}, exit_usage);
  };
  for (const std::string& folder : options_.allow_files) {
    if (!paths::is_folder(folder)) refuse("there is no folder '" + folder + "'", "--allow-files takes folders");
  }
  if (paths::is_below(paths::resolved(home_, home_), paths::resolved(files_, files_))) {
    refuse("the folder '" + files_ + "' for what the program writes holds the network",
           "choose another with --files: the network's own files are never changed");
  }
}

FilePointer FileAccess::read_named(const std::string& name) { return read_path(beside(name), name); }

FilePointer FileAccess::read_path(const std::string& path, const std::string& shown) {
  const auto copy = copies_.find(paths::absolute(path));
  if (copy != copies_.end()) return detail::opened(copy->second, O_RDONLY, shown);
  const std::string place = readable(path, shown);
  if (is_left(place, shown)) detail::refuse_opening(shown, ENOENT);
  FilePointer file = detail::opened(place, O_RDONLY, shown);
  if (std::find(read_.begin(), read_.end(), path) == read_.end()) read_.push_back(path);
  return file;
}

FilePointer FileAccess::create_named(const std::string& name) {
  const std::string path = beside(name);
  if (is_own(path)) return detail::opened(copy_of(path, name), O_RDWR | O_TRUNC, name);
  const std::string place = writable(path, name);
  if (is_left(place, name)) detail::make_file(place, name);
  note(place, place);
  return detail::opened(place, O_RDWR | O_CREAT | O_TRUNC, name);
}

FilePointer FileAccess::create_in(const std::string& folder, const std::string& name) {
  detail::require_name(name);
  const std::string path = paths::join(folder, name);
  const std::string place = paths::resolved(path, name);
  std::vector<std::string> folders = allowed();
  folders.push_back(paths::resolved(folder, name));
  if (std::none_of(folders.begin(), folders.end(), [&](const auto& f) { return paths::is_below(place, f); })) {
    detail::refuse_access("write", name, path, place, "outside '" + paths::tidy(folder) + "'",
                          "allow its folder with --allow-files DIR");
  }
  FilePointer file = detail::opened(place, O_RDWR | O_CREAT | O_TRUNC, name);
  note(path, place);
  return file;
}

FilePointer FileAccess::update_named(const std::string& name) {
  const std::string path = beside(name);
  const std::string key = paths::absolute(path);
  const auto copy = copies_.find(key);
  if (copy != copies_.end()) return detail::opened(copy->second, O_RDWR, name);
  if (!is_own(path) && may_write(path, name)) return updated_in_place(path, name);
  if (!paths::exists(key)) return create_named(name);
  FilePointer file = read_named(name);
  file->copy_before_write([this, path, name] { turn(path, name); });
  updated_[key].push_back(file);
  return file;
}

// Places --------------------------------------------------------------------------------------------------------------

/// Returns the path of a name. Throws Fault for one that no file can have.
std::string FileAccess::beside(const std::string& name) const {
  detail::require_name(name);
  return paths::join(home_, name);
}

/// Returns whether a path lies beside the network, as it is written.
bool FileAccess::is_own(const std::string& path) const {
  return paths::is_below(paths::absolute(path), paths::absolute(home_));
}

std::vector<std::string> FileAccess::allowed() const {
  std::vector<std::string> places;
  for (const std::string& folder : options_.allow_files) places.push_back(paths::resolved(folder, folder));
  return places;
}

std::string FileAccess::files_place(const std::string& shown) const { return paths::resolved(files_, shown); }

/// Returns the place of a file that may be read. Throws Fault for another.
std::string FileAccess::readable(const std::string& path, const std::string& shown) const {
  const std::string place = paths::resolved(path, shown);
  std::vector<std::string> given = allowed();
  given.push_back(paths::resolved(home_, shown));
  given.push_back(files_place(shown));
  for (const std::optional<std::string>& named : {options_.input, options_.reference}) {
    if (named) given.push_back(paths::resolved(*named, *named));
  }
  if (std::none_of(given.begin(), given.end(), [&](const auto& g) { return paths::is_below(place, g); })) {
    detail::refuse_access("read", shown, path, place, "outside the folder of the network",
                          "give the file with -i, or allow its folder with --allow-files DIR");
  }
  return place;
}

/// Returns whether a file that does not lie beside the network may be written where it is.
bool FileAccess::may_write(const std::string& path, const std::string& shown) const {
  const std::string place = paths::resolved(path, shown);
  std::vector<std::string> given = allowed();
  given.push_back(files_place(shown));
  return std::any_of(given.begin(), given.end(), [&](const auto& g) { return paths::is_below(place, g); });
}

/// Returns the place of a file that may be written where it is. Throws Fault for another.
std::string FileAccess::writable(const std::string& path, const std::string& shown) const {
  const std::string place = paths::resolved(path, shown);
  if (!may_write(path, shown)) {
    detail::refuse_access("write", shown, path, place, "outside '" + files_ + "'",
                          "write below the folder of the network, or allow its folder with --allow-files DIR");
  }
  return place;
}

/// Returns whether a place is one where only an earlier run can have left a file.
bool FileAccess::is_left(const std::string& place, const std::string& shown) const {
  return made_.count(place) == 0 && paths::is_below(place, files_place(shown));
}

// Files ---------------------------------------------------------------------------------------------------------------

FilePointer FileAccess::updated_in_place(const std::string& path, const std::string& name) {
  const std::string place = writable(path, name);
  if (is_left(place, name)) return create_named(name);  // what an earlier run left there is not read
  note(place, place);
  return detail::opened(place, O_RDWR | O_CREAT, name);
}

/// Returns the file below `files` that stands for a path beside the network; made empty if it is new.
std::string FileAccess::copy_of(const std::string& beside, const std::string& name) {
  const std::string key = paths::absolute(beside);
  const auto known = copies_.find(key);
  if (known != copies_.end()) return known->second;
  const std::string copy = copies_[key] = new_copy(key, name);
  const auto waiting = updated_.extract(key);
  if (waiting.empty()) return copy;
  for (const std::weak_ptr<OpenFile>& reference : waiting.mapped()) {
    const FilePointer file = reference.lock();
    if (file && !file->closed()) file->turn_to(detail::open_place(copy, O_RDWR, copy));
  }
  return copy;
}

std::string FileAccess::new_copy(const std::string& key, const std::string& name) {
  if (paths::is_folder(key)) detail::refuse_opening(name, EISDIR);
  const std::string inside = key.substr(std::min(key.size(), paths::absolute(home_).size()));
  const std::string path = paths::join(files_, inside.substr(std::min(inside.find_first_not_of('/'), inside.size())));
  const std::string place = paths::resolved(path, path);
  if (!paths::is_below(place, files_place(name))) {
    detail::refuse_access("write", path, path, place, "outside '" + files_ + "'", "remove the link, or choose --files");
  }
  detail::make_file(place, path);
  note(path, place);
  return place;
}

/// Copies a file beside the network below `files`; all who have it open to be updated go on with the copy.
void FileAccess::turn(const std::string& beside, const std::string& name) {
  if (!is_own(beside)) writable(beside, name);  // it is refused
  const FilePointer original = read_named(name);
  const FilePointer copy = detail::opened(copy_of(beside, name), O_RDWR, name);
  detail::copy_file(*original, *copy);
  copy->close();
}

/// Remembers a file that is written.
void FileAccess::note(const std::string& path, const std::string& place) {
  made_.insert(place);
  if (std::find(written.begin(), written.end(), path) == written.end()) written.push_back(path);
}

}  // namespace dse::natives
