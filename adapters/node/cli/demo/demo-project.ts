import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const files: Readonly<Record<string, string>> = {
  'README.md': `# Totals

\`sh total.sh 40 60\` adds prices. From 100 on there are 10 off.
`,
  'total.sh': `# Adds prices. From 100 on there are 10 off.
sum=0
for price in "$@"; do sum=$((sum + price)); done
if [ "$sum" -gt 100 ]; then sum=$((sum - 10)); fi
echo "$sum"
`,
  'check.sh': `# Checks total.sh, with a moment between the checks, so that one can watch.
passed=0
check() {
  got=$(sh total.sh $1)
  sleep 0.25
  if [ "$got" = "$2" ]; then passed=$((passed + 1)); echo "ok    $1 makes $2"; else echo "FAIL  $1 makes $got, not $2"; fi
}
check "2 3" 5
check "70 29" 99
check "40 60" 90
check "70 80" 140
echo "$passed of 4 checks passed"
`,
  'last-check.log': `ok    2 3 makes 5
ok    70 29 makes 99
FAIL  40 60 makes 100, not 90
ok    70 80 makes 140
3 of 4 checks passed
`,
}

/** Creates a temporary project with a bug and a snapshot folder. Returns a function that removes both. */
export function demoProject(): { root: string; changes: string; remove(): void } {
  const root = mkdtempSync(join(tmpdir(), 'phi-demo-'))
  const changes = `${root}-before`
  for (const [name, text] of Object.entries(files)) writeFileSync(join(root, name), text)
  const remove = () => {
    for (const path of [root, changes]) rmSync(path, { recursive: true, force: true })
  }
  // Also runs if the process ends abnormally.
  process.once('exit', remove)
  return { root, changes, remove }
}
