/** What `npm run check` and `npm run bench` share: a table of commands by name, and the command line that chooses from it. */
import { spawnSync } from 'node:child_process'
import { delimiter, resolve } from 'node:path'

/** Returns the entries of the table that are named, or all of them if none is. Exits with 2 if a name is unknown. */
export function pick<T>(table: Record<string, T>, names: readonly string[], script: string): [string, T][] {
  const entries = Object.entries(table)
  const unknown = names.find((name) => !Object.hasOwn(table, name))
  if (unknown !== undefined) {
    console.error(`npm run ${script} ${unknown}: unknown name. Known: ${Object.keys(table).join(', ')}.`)
    process.exit(2)
  }
  return names.length === 0 ? entries : entries.filter(([name]) => names.includes(name))
}

/** Runs commands one after the other until one fails. Returns whether all of them passed. */
export function runInTurn(commands: readonly (readonly string[])[], flags: readonly string[] = []): boolean {
  const path = [resolve('node_modules/.bin'), process.env.PATH].join(delimiter)
  return commands.every(([program = '', ...own]) => {
    return spawnSync(program, [...own, ...flags], { stdio: 'inherit', env: { ...process.env, PATH: path } }).status === 0
  })
}

/** Ends the program: with 1, and the names, if some failed. */
export function exitWith(failed: readonly string[]): never {
  if (failed.length > 0) console.error(`Failed: ${failed.join(', ')}`)
  process.exit(failed.length > 0 ? 1 : 0)
}
