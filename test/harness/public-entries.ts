import { readFileSync } from 'node:fs'

/** A subpath of the package and the source behind it. */
export interface PublicEntry {
  /** As an importer writes it after the package's name: `.`, `./tools`. */
  subpath: string
  /** Path from the root of the repository. */
  source: string
  /** For Node and what runs its modules: bundlers for pages refuse it. */
  isOfNode: boolean
  /** What bundlers for pages find in its place. */
  inBrowser?: string
}

type Target = string | { types: string; browser?: string }

/** Every code entry of the exports map in package.json. */
export function publicEntries(): PublicEntry[] {
  const { exports }: { exports: Record<string, Target> } = JSON.parse(readFileSync('package.json', 'utf8'))
  return Object.entries(exports).flatMap(([subpath, target]) =>
    typeof target === 'string'
      ? []
      : [
          {
            subpath,
            source: target.types.replace('./dist/types/', '').replace('.d.ts', '.ts'),
            isOfNode: target.browser !== undefined,
            ...(target.browser !== undefined && { inBrowser: target.browser }),
          },
        ],
  )
}

/** The file in `dist` that begins with `source`: a public entry, or a part that is loaded late. */
export function builtFile(source: string): string {
  const entry = publicEntries().find((each) => each.source === source)
  if (entry !== undefined) return `dist/${entry.subpath === '.' ? 'index' : entry.subpath.slice(2)}.js`
  const name = source.replace(/^src\//, '').replace(/(\/index)?\.ts$/, '')
  return `dist/late/${name.replaceAll('/', '-')}.js`
}
