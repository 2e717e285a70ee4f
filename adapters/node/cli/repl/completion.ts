import { commandNames } from '../commands/commands.ts'
import type { Completion } from '../terminal/line-editor.ts'
import type { FileIndex } from './file-index.ts'

/** Files that are offered at a time. */
const mostFiles = 8

/** What Tab can make of what stands before the cursor: a command at the beginning, a file after `@`. */
export function completionOf(before: string, files: FileIndex): Completion | undefined {
  const commands = commandNames(before)
  if (commands.length > 0) return { from: 0, options: commands.map((name) => `${name} `) }
  const [mention, query = ''] = /(?:^|\s)@([^\s"]*)$/.exec(before) ?? []
  if (mention === undefined) return undefined
  const options = files.find(query, mostFiles).map((path) => (/\s/.test(path) ? `@"${path}" ` : `@${path} `))
  return { from: before.length - query.length - 1, options }
}
