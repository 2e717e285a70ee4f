/**
 * `npm run bench [name] [-- flags]`: builds the package and runs one benchmark of `test/bench`, or those of `usual`. Flags go to the benchmark.
 * Every figure is a ratio to something measured in the same run.
 */
import { exitWith, pick, runInTurn } from './command-line.ts'

const bench = (path: string, ...nodeFlags: string[]): string[] => ['node', ...nodeFlags, `test/bench/${path}`]

/** What `npm run bench` runs if no name is given. */
const usual = {
  runs: [bench('run.ts')],
  turns: [bench('turns.ts')],
  start: [bench('start.ts')],
  decoders: [bench('decoders.ts')],
  memory: [bench('memory/run.ts')],
  ui: [bench('ui.ts')],
  sessions: [bench('sessions/with-files.ts'), bench('sessions/run.ts')],
}

/** What takes long, needs a quiet machine, compares with other libraries, or counts what a reader meets: only by name. */
const named = {
  http: [bench('http.ts')],
  load: [bench('load/run.ts'), bench('http.ts')],
  openapi: [bench('openapi.ts', '--expose-gc')],
  'partial-json': [bench('partial-json.ts')],
  paths: [bench('paths.ts')],
  peers: [bench('peers.ts')],
  playground: [bench('playground/run.ts')],
  proxy: [bench('proxy.ts')],
  'smooth-text': [bench('smooth-text.ts')],
}

const [name, ...flags] = process.argv.slice(2)
const all: Record<string, string[][]> = { ...usual, ...named }
const chosen = name === undefined ? Object.entries<string[][]>(usual) : pick(all, [name], 'bench')
if (!runInTurn([['npm', 'run', '--silent', 'build']])) exitWith(['build'])
exitWith(chosen.filter(([, commands]) => !runInTurn(commands, flags)).map(([failed]) => failed))
