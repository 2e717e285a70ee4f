import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { type BashOptions, bashTool } from '../../../../adapters/node/index.ts'
import { toToolResult } from '../../../../src/loop/calls/tool-result.ts'
import type { ToolOutput } from '../../../../src/types/tool/tool.ts'
import { present, temporaryRoot, toolContext } from '../temporary.ts'

export const hasBubblewrap = present('bwrap', '--version')
export const hasGit = present('git', '--version')

/** The text of a tool's answer. */
function textOf(result: ToolOutput): string {
  return toToolResult('tool', result)
    .content.map((block) => (block.type === 'text' ? block.text : ''))
    .join('')
}

/** `bash` in a sandbox over a new workspace. */
export function shell(options: Partial<BashOptions> = {}) {
  const places = options.root === undefined ? temporaryRoot() : { root: options.root, outside: '' }
  const tool = bashTool({ root: places.root, ...options })
  const run = async (command: string, context = toolContext()) => textOf(await tool.execute({ command }, context))
  return { ...places, tool, run }
}

/** A process of its own that runs `command` in a sandbox over `root`. */
export function shellElsewhere(root: string, command: string): ChildProcess {
  const adapter = new URL('../../../../adapters/node/index.ts', import.meta.url).href
  const program = `
    import { bashTool } from ${JSON.stringify(adapter)}
    const context = { signal: new AbortController().signal, update: () => undefined }
    await bashTool({ root: ${JSON.stringify(root)} }).execute({ command: ${JSON.stringify(command)} }, context)`
  return spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: 'ignore' })
}

/** Runs each command and gives those that succeeded although they must not. */
export async function succeeded(run: (command: string) => Promise<string>, commands: readonly string[]): Promise<string[]> {
  const wrong: string[] = []
  for (const command of commands) {
    if ((await run(command)).startsWith('Exit code: 0')) wrong.push(command)
  }
  return wrong
}

/** What a person does: asks git about a directory. Whether a program ran on that occasion shows in files named `pwned`. */
export function gitStatus(directory: string, root: string): string[] {
  try {
    execFileSync('git', ['status'], { cwd: directory, stdio: 'ignore' })
  } catch {
    // No repository there: so it should be.
  }
  return readdirSync(root, { recursive: true })
    .map(String)
    .filter((name) => name.includes('pwned'))
}

/** Commands that make a repository of a directory; asked for its status, git runs `touch pwned`. */
export const plantBare = (directory: string) =>
  `mkdir -p ${directory}/objects ${directory}/refs/heads; printf 'ref: refs/heads/main\\n' > ${directory}/HEAD; ` +
  `printf '[core]\\n\\trepositoryformatversion = 0\\n\\tbare = false\\n\\tworktree = .\\n\\tfsmonitor = "touch pwned; false"\\n' > ${directory}/config`

/** The same with settings that lie elsewhere: `directory` has a `HEAD`, and a `commondir` that names a directory without one. */
export const plantCommon = (directory: string) =>
  `mkdir -p store/objects store/refs/heads ${directory}; echo "$PWD/store" | sed 's#^/workspace#'"$HOST"'#' > ${directory}/commondir; ` +
  `printf 'ref: refs/heads/main\\n' > ${directory}/HEAD; ` +
  `printf '[core]\\n\\trepositoryformatversion = 1\\n\\tfsmonitor = "touch pwned; false"\\n[extensions]\\n\\tworktreeConfig = true\\n' > store/config; ` +
  `printf '[core]\\n\\tbare = false\\n\\tworktree = .\\n' > ${directory}/config.worktree`
