// The program `guard`: where it is, and one run of it.

import { execFile } from "node:child_process";
import { access, constants } from "node:fs/promises";
import * as path from "node:path";
import { workspace } from "vscode";

/** The longest output of one run, in bytes. */
const OUTPUT = 256 << 20;

/** The program as the settings name it. */
export function wantedProgram(): string {
  return workspace.getConfiguration("guard").get<string>("path")?.trim() || "guard";
}

/** Returns the path of a program, searched on the path if it is a name; `undefined` if there is none. */
export async function findProgram(wanted: string): Promise<string | undefined> {
  const named = wanted.includes("/") || wanted.includes(path.sep);
  const folders = named ? [""] : (process.env.PATH ?? "").split(path.delimiter).filter((folder) => folder !== "");
  const endings = process.platform === "win32" ? ["", ".exe"] : [""];
  for (const folder of folders) {
    for (const ending of endings) {
      const file = path.join(folder, wanted + ending);
      try {
        await access(file, constants.X_OK);
        return file;
      } catch {
        // Not here.
      }
    }
  }
  return undefined;
}

export interface Run {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the program to its end. */
export async function run(args: string[], signal?: AbortSignal): Promise<Run> {
  const wanted = wantedProgram();
  const command = await findProgram(wanted);
  if (command === undefined) {
    throw new Error(`The program \`${wanted}\` was not found.`);
  }
  return new Promise((resolve, reject) => {
    execFile(command, args, { maxBuffer: OUTPUT, signal, encoding: "utf8" }, (error, stdout, stderr) => {
      const code = error === null ? 0 : error.code;
      if (typeof code === "number") {
        resolve({ code, stdout, stderr });
      } else {
        reject(error);
      }
    });
  });
}
