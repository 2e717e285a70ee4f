/** `npm exec -- node scripts/changelog.ts`: moves the fragments of `changes/` into the section of CHANGELOG.md that is not released yet. */
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type Fragment, fragmentFault, readFragment, withFragments } from './changelog/fragments.ts'

const paths = globSync('changes/*.md')
  .filter((path) => !path.endsWith('README.md'))
  .toSorted()
const read = (path: string): Fragment => readFragment(path, readFileSync(path, 'utf8'))
const faults = paths.flatMap((path) => fragmentFault(path, readFileSync(path, 'utf8')) ?? [])
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exit(1)
writeFileSync('CHANGELOG.md', withFragments(readFileSync('CHANGELOG.md', 'utf8'), paths.map(read)))
for (const path of paths) rmSync(path)
console.log(`${paths.length} changes moved into CHANGELOG.md`)
