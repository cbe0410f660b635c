// Which files a program may open, and what a name that it gives means: the rules of dse/run/natives/access.py.
//
// A program may read the files named on the command line and what lies below the folder of its network. It may write
// below the folder of --files, and do both below each folder of --allow-files. Links are followed before it is decided,
// and only regular files are opened. The folder of the network is never changed: what is written there is a copy below
// --files, which whoever reads the name later in the same run gets.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dse/natives/open_file.hpp"
#include "dse/run_types.hpp"

namespace dse::natives {

using FilePointer = std::shared_ptr<OpenFile>;

class FileAccess {
 public:
  /// `home`: the folder of the network; `files`: where the program's own files are created. Throws ConfigError for
  /// folders that cannot be what they are named for. Not to be used by two threads at once.
  FileAccess(const RunOptions& options, const std::string& home, const std::string& files);

  /// Opens a file that the program names for reading. Throws Fault where that is refused, as all that follow.
  FilePointer read_named(const std::string& name);
  /// Opens a file for reading: the copy that this run has made of it, else itself. `shown`: its name in messages.
  FilePointer read_path(const std::string& path, const std::string& shown);
  FilePointer read_path(const std::string& path) { return read_path(path, path); }
  /// Opens a file that the program names for writing, empty.
  FilePointer create_named(const std::string& name);
  /// Opens a file below a folder that the user named for writing, empty.
  FilePointer create_in(const std::string& folder, const std::string& name);
  /// Opens a file that the program names to be read and written; it is created where there is none.
  FilePointer update_named(const std::string& name);

  /// Files that were opened for reading, by name, in the order in which they were.
  const std::vector<std::string>& read_files() const { return read_; }
  /// Files that the run wrote or copied, as they are to be shown.
  std::vector<std::string> written;

 private:
  std::string beside(const std::string& name) const;
  bool is_own(const std::string& path) const;
  std::vector<std::string> allowed() const;
  std::string files_place(const std::string& shown) const;
  std::string readable(const std::string& path, const std::string& shown) const;
  bool may_write(const std::string& path, const std::string& shown) const;
  std::string writable(const std::string& path, const std::string& shown) const;
  bool is_left(const std::string& place, const std::string& shown) const;
  FilePointer updated_in_place(const std::string& path, const std::string& name);
  std::string copy_of(const std::string& beside, const std::string& name);
  std::string new_copy(const std::string& key, const std::string& name);
  void turn(const std::string& beside, const std::string& name);
  void note(const std::string& path, const std::string& place);

  const RunOptions& options_;
  std::string home_;
  std::string files_;
  std::vector<std::string> read_;
  std::map<std::string, std::string> copies_;                               // place beside the network -> its copy
  std::map<std::string, std::vector<std::weak_ptr<OpenFile>>> updated_;      // place -> files that may turn to a copy
  std::set<std::string> made_;                                               // the files that this run has made
};

}  // namespace dse::natives
