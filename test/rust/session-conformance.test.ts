import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sessionFromSpecJson, sessionToSpec, sessionToSpecJson } from '../../src/rust.ts'
import { canonical } from './arbitrary.ts'

const folder = new URL('../../../shared/conformance/sessions/', import.meta.url)
const found = existsSync(folder)
if (!found) console.warn('SKIPPED: ../shared/conformance/sessions is absent; no session files of the Rust crate are read and written')

interface Expected {
  handmade: { file: string; expect: string; roundtrip: string | null }[]
}

const expected: Expected = found ? JSON.parse(read('expected.json')) : { handmade: [] }

function read(file: string): string {
  return readFileSync(new URL(file, folder), 'utf8')
}

function nameOf(file: string): string {
  return file.replace(/^sessions\//, '')
}

describe.skipIf(!found)('session files of the crate', () => {
  it.each(found ? readdirSync(new URL('real/', folder)) : [])('preserves real/%s of the crate', (file) => {
    const text = read(`real/${file}`)
    expect(canonical(sessionToSpec(sessionFromSpecJson(text)))).toBe(canonical(JSON.parse(text)))
  })

  const refused = expected.handmade.filter((entry) => entry.expect === 'rejected')
  it.each(refused.map(({ file }) => nameOf(file)))('rejects %s with the path, like the crate', (file) => {
    expect(() => sessionFromSpecJson(read(file))).toThrow(
      expect.objectContaining({
        code: 'invalidSession',
        message: expect.stringMatching(/^session\.[a-z_]+(\[\d+\])?.*: expected .+, got .+/),
      }),
    )
  })

  const loaded = expected.handmade.filter((entry) => entry.expect !== 'rejected')
  it.each(loaded)('writes $file like the crate', ({ file, roundtrip }) => {
    const text = read(nameOf(file))
    // Where no answer of the crate is there, the file is already as it would write it; and keys that it drops stay.
    const answer: unknown = JSON.parse(roundtrip === null ? text : read(nameOf(roundtrip)))
    expect(canonical(sessionToSpec(sessionFromSpecJson(text)))).toBe(canonical(Object.assign({ parent_spawn_ref: null }, answer)))
  })

  it('writes indented JSON', () => {
    const [file = ''] = readdirSync(new URL('real/', folder))
    expect(sessionToSpecJson(sessionFromSpecJson(read(`real/${file}`)))).toMatch(/^\{\n {2}"/)
  })
})
