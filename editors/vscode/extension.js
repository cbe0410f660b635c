// Starts 'dse lsp' for CAL and XDF files, and ends it with the window.
"use strict";

const vscode = require("vscode");
const { LanguageClient } = require("vscode-languageclient/node");

let client;

function serverOptions() {
  const settings = vscode.workspace.getConfiguration("dse");
  const [command, ...rest] = settings.get("command");
  const roots = settings.get("sourcePaths").flatMap((folder) => ["--source-path", folder]);
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  return { command, args: [...rest, ...roots], options: folder ? { cwd: folder } : {} };
}

async function start() {
  client = new LanguageClient("dse", "dse", serverOptions(), {
    documentSelector: [{ language: "cal" }, { language: "xdf" }],
    synchronize: { fileEvents: vscode.workspace.createFileSystemWatcher("**/{*.cal,*.xdf,.project,.classpath}") },
  });
  await client.start();
}

async function restart(event) {
  if (event.affectsConfiguration("dse")) {
    await deactivate();
    await start();
  }
}

async function activate(context) {
  context.subscriptions.push(vscode.workspace.onDidChangeConfiguration(restart));
  await start();
}

async function deactivate() {
  await client?.stop();
}

module.exports = { activate, deactivate };
