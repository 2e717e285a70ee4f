/** `npm run check [name…]`: runs the named checks of `checks.ts`, or all of them. Exits with 1 if one fails. */

import { checks } from './checks.ts'
import { exitWith, pick, runInTurn } from './command-line.ts'

const failed = pick(checks, process.argv.slice(2), 'check').filter(([name, { title, commands }]) => {
  console.log(`── ${name}: ${title}`)
  return !runInTurn(commands)
})
exitWith(failed.map(([name]) => name))
