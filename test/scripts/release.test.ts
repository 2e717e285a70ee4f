import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { jsrManifest, jsrText } from '../../scripts/build/jsr.ts'
import { releaseFaults } from '../../scripts/check-release.ts'

const read = (path: string): string => readFileSync(path, 'utf8')
const manifest = JSON.parse(read('package.json'))

describe('release checks', () => {
  const complete = { version: '1.2.3', repository: {}, homepage: '', bugs: {} }

  it('requires a tag, a changelog section and repository fields', () => {
    expect(releaseFaults('v1.2.3', complete, '# Changelog\n\n## 1.2.3 (3 May 2027)\n')).toEqual([])
    const faults = releaseFaults('v1.2.4', { version: '1.2.3', private: true }, '## 1.2.3 (unreleased)\n## 1.2.30\n')
    expect(faults).toHaveLength(6)
  })

  it('requires all of repository, homepage and bugs, or none', () => {
    const named = ['repository', 'homepage', 'bugs'].filter((field) => manifest[field] !== undefined)
    expect([0, 3]).toContain(named.length)
  })
})

it('keeps jsr.json in sync with package.json', () => {
  expect(read('jsr.json')).toBe(jsrText())
  expect(jsrManifest()).toMatchObject({ version: manifest.version, exports: { '.': './src/index.ts', './env': './adapters/env/index.ts' } })
})

it('parses every workflow and form, and publishes without a token', () => {
  const files = globSync('.github/**/*.yml')
  expect(files.length).toBeGreaterThan(5)
  for (const path of files) expect(parse(read(path)), path).toBeTypeOf('object')
  const publish = parse(read('.github/workflows/publish.yml'))
  expect(publish.jobs.publish.permissions['id-token']).toBe('write')
  expect(read('.github/workflows/publish.yml')).not.toMatch(/secrets\.|NODE_AUTH_TOKEN/)
})
