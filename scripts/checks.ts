/** The checks of this repository: `npm run check` runs all of them, `npm run check <name>` one, and `npm test` those of `checks` in turn. */

/** One check. It passes if each of its commands exits with 0. */
interface Check {
  /** What a person reads in the last lines of `npm test`. */
  title: string
  commands: readonly (readonly string[])[]
}

/** The flags with which the compiler keeps what it found of each file, and looks again only at files that changed and at those that use them. */
function checkedOnce(name: string): string[] {
  return ['--incremental', '--tsBuildInfoFile', `node_modules/.cache/phi-test/types-${name}.json`]
}

/** Every check, by the name that follows `npm run check`. */
export const checks = {
  types: {
    title: 'type check',
    commands: [
      ['tsc', '-p', 'src/tsconfig.json', ...checkedOnce('src')],
      ['tsc', ...checkedOnce('all')],
    ],
  },
  lint: { title: 'lint', commands: [['biome', 'check', '.']] },
  unused: { title: 'files and exports that nobody uses', commands: [['knip']] },
  supply: { title: 'licences and known vulnerabilities', commands: [['node', 'scripts/check/supply.ts']] },
  commits: { title: 'commit subjects', commands: [['node', 'scripts/check/commits.ts']] },
  lock: { title: 'lock file', commands: [['npm', 'ci', '--dry-run', '--ignore-scripts']] },
} as const satisfies Record<string, Check>

export type CheckName = keyof typeof checks
