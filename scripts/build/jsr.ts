import { readFileSync, writeFileSync } from 'node:fs'
import { publicEntries } from '../../test/harness/public-entries.ts'

interface Manifest extends Record<'dependencies' | 'peerDependencies' | 'devDependencies', Record<string, string>> {
  version: string
  license: string
}

/** `jsr.json` as package.json has it: the same version and entries, as sources. The scope is to be registered before the first publication. */
export function jsrManifest(): object {
  const { version, license, dependencies, peerDependencies, devDependencies }: Manifest = JSON.parse(readFileSync('package.json', 'utf8'))
  // A range such as `>=3` is none for Deno: the version that is tried here, and what is compatible with it.
  const peers = Object.keys(peerDependencies).map((name): [string, string] => [name, `^${devDependencies[name]}`])
  const imports = [...Object.entries(dependencies), ...peers].flatMap(([name, range]) => [
    [name, `npm:${name}@${range}`],
    [`${name}/`, `npm:/${name}@${range}/`],
  ])
  return {
    name: '@phi-core/phi-core',
    version,
    license,
    exports: Object.fromEntries(publicEntries().map(({ subpath, source }) => [subpath, `./${source}`])),
    imports: Object.fromEntries(imports),
    publish: { include: ['src', 'testing', 'adapters', 'README.md', 'LICENSE', 'CHANGELOG.md', 'jsr.json'] },
  }
}

/** `jsr.json` as text. */
export const jsrText = (): string => `${JSON.stringify(jsrManifest(), null, 2)}\n`

if (import.meta.main) writeFileSync('jsr.json', jsrText())
