import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'

const published = [
  'README.md',
  'SECURITY.md',
  ...globSync(['docs/**/*.{md,json}', 'examples/**/*.{md,ts,tsx,js,jsx,html,toml,vue,svelte}']),
]
const code = globSync([
  '{src,testing}/**/*.ts',
  'adapters/**/*.ts',
  'playground/src/**/*.{ts,tsx}',
  'playground/index.html',
  'scripts/**/*.ts',
])
const written = (paths: readonly string[]): string[] => paths.filter((path) => !path.includes('node_modules'))

/** The lines of `paths` that match, with their place. */
function found(pattern: RegExp, paths: readonly string[]): string[] {
  return written(paths).flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .flatMap((line, at) => (pattern.test(line) ? [`${path}:${at + 1}: ${line.trim()}`] : [])),
  )
}

/** `npx phi` with any flags but `-p phi-core`, in a shell line or in the settings of a program. */
const ofStranger = /\bnpx["'`]?,?\s*(?:["']?args["']?\s*:\s*)?\[?\s*(?:["']?(?:-y|--yes|--no-install)["']?,?\s*)*["'`]?phi(?![\w-])/

describe('shell commands in the documentation', () => {
  it('names the package for npx, because npx phi would run another package', () => {
    expect(found(/npx -p phi-core phi/, published).length).toBeGreaterThan(5)
    expect(found(ofStranger, [...published, ...code, 'CONTRIBUTING.md'])).toEqual([])
  })

  it.each(['npx phi --demo', 'npx -y phi', '"command": "npx", "args": ["phi", "acp"]', "npx', ['-y', 'phi'"])(
    'detects the unsafe command %s',
    (line) => {
      expect(ofStranger.test(line)).toBe(true)
    },
  )

  it('mentions the clone wherever a page uses a repository script', () => {
    const { scripts }: { scripts: Record<string, string> } = JSON.parse(readFileSync('package.json', 'utf8'))
    // Starters have scripts of their own.
    const pages = written(published).filter((path) => path.endsWith('.md') && !/^examples[\\/]starters/.test(path))
    const named = (text: string) => Array.from(text.matchAll(/\bnpm run (?:--silent )?([\w:-]+)/g), ([, name = '']) => name)
    const silent = pages.filter((path) => {
      const text = readFileSync(path, 'utf8')
      return named(text).some((name) => scripts[name] !== undefined) && !/\bclone\b/.test(text)
    })
    expect(silent).toEqual([])
  })

  it('refers to no repository in published pages', () => {
    const texts = published.filter((path) => path !== 'SECURITY.md')
    expect(found(/\b(?:in|of) (?:this|the|its) repository\b/i, texts)).toEqual([])
  })
})
