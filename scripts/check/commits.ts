/**
 * `npm run check commits`: every commit since this rule has a subject `type(scope): what it does`, of 72 characters at most.
 * `node scripts/check/commits.ts --message FILE` checks one message: the hook in `.githooks` calls it.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { subjectFault } from './commit-subject.ts'

/** The last commit before this rule. */
const before = '145827e3ade186c6b9e4eed37fd5a4eecffd22c2'

function git(...args: string[]): string | undefined {
  try {
    return execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trimEnd()
  } catch {
    return undefined
  }
}

/** The subjects of commits since the rule, newest first; `undefined` if there is no history here that reaches so far. */
function subjects(): string[] | undefined {
  if (git('merge-base', '--is-ancestor', before, 'HEAD') === undefined) return undefined
  return git('log', '--no-merges', '--format=%s', `${before}..HEAD`)
    ?.split('\n')
    .filter((line) => line !== '')
}

const [flag, path = ''] = process.argv.slice(2)
const found = flag === '--message' ? [readFileSync(path, 'utf8').split('\n')[0] ?? ''] : subjects()
if (found === undefined) console.log('NOT RUN: commit subjects: this checkout has no history (fetch it with: git fetch --unshallow)')
const faults = (found ?? []).flatMap((subject) => subjectFault(subject) ?? [])
for (const fault of faults) console.error(fault)
process.exitCode = faults.length > 0 ? 1 : 0
