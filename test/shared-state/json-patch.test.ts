import fc from 'fast-check'
import { applyPatch } from 'fast-json-patch'
import { describe, expect, it } from 'vitest'
import { jsonDiff } from '../../src/base/json/json-diff.ts'
import { patched } from '../../src/base/json/json-patch.ts'
import type { PatchOperation } from '../../src/contract/session/shared-state.ts'
import type { JsonValue } from '../../src/index.ts'
import { patchedBy } from '../../src/shared-state/apply-patch.ts'
import { runs } from '../support/runs.ts'

const key = fc.constantFrom('a', 'b', 'a/b', 'm~n', '', '0', '-')
const { value: anyJson } = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<JsonValue>(null, true, 0, 1, 'x', ''),
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
}))

describe('jsonDiff', () => {
  it('transforms one value into the other, also with the AG-UI patch package', () => {
    fc.assert(
      fc.property(anyJson, anyJson, (before, after) => {
        const steps = jsonDiff(before, after)
        expect(patched(before, steps)).toEqual(after)
        expect(patchedBy(before, steps)).toEqual(after)
        const there = { root: structuredClone(before) }
        const below = steps.map((step) => ({ ...step, path: `/root${step.path}` }))
        expect(applyPatch(there, structuredClone(below), true).newDocument.root).toEqual(after)
      }),
      { numRuns: runs(500, 20_000) },
    )
  })

  it('describes list insertions and removals, not moves', () => {
    expect(jsonDiff({ list: [1, 2, 3] }, { list: [0, 1, 2, 3] })).toEqual([{ op: 'add', path: '/list/0', value: 0 }])
    expect(jsonDiff([1, 2, 3, 4], [1, 4])).toEqual([
      { op: 'remove', path: '/2' },
      { op: 'remove', path: '/1' },
    ])
    expect(jsonDiff({ a: 1, b: 2 }, { b: 2, a: 1 })).toEqual([])
  })
})

describe('patchedBy', () => {
  // The examples of RFC 6902, appendix A.
  it.each<[string, JsonValue, PatchOperation[], JsonValue]>([
    ['adds a member', { foo: 'bar' }, [{ op: 'add', path: '/baz', value: 'qux' }], { foo: 'bar', baz: 'qux' }],
    ['adds to a list', { foo: ['bar', 'baz'] }, [{ op: 'add', path: '/foo/1', value: 'qux' }], { foo: ['bar', 'qux', 'baz'] }],
    ['appends to a list', { foo: ['bar'] }, [{ op: 'add', path: '/foo/-', value: ['abc'] }], { foo: ['bar', ['abc']] }],
    ['removes a member', { baz: 'qux', foo: ['bar', 'qux'] }, [{ op: 'remove', path: '/foo/1' }], { baz: 'qux', foo: ['bar'] }],
    ['replaces a member', { baz: 'qux' }, [{ op: 'replace', path: '/baz', value: 'boo' }], { baz: 'boo' }],
    [
      'moves a member',
      { foo: { bar: 'baz' }, qux: {} },
      [{ op: 'move', from: '/foo/bar', path: '/qux/thud' }],
      { foo: {}, qux: { thud: 'baz' } },
    ],
    ['moves a list item', { foo: [1, 2, 3] }, [{ op: 'move', from: '/foo/0', path: '/foo/2' }], { foo: [2, 3, 1] }],
    ['copies a value', { a: [1] }, [{ op: 'copy', from: '/a', path: '/b' }], { a: [1], b: [1] }],
    [
      'tests a value',
      { '~1': 10, a: 1 },
      [
        { op: 'test', path: '/~01', value: 10 },
        { op: 'remove', path: '/a' },
      ],
      { '~1': 10 },
    ],
    ['replaces the whole document', { a: 1 }, [{ op: 'replace', path: '', value: { b: 2 } }], { b: 2 }],
  ])('%s', (_name, before, operations, after) => {
    const kept = structuredClone(before)
    expect(patchedBy(before, operations)).toEqual(after)
    expect(before).toEqual(kept)
  })

  it.each<[string, PatchOperation]>([
    ['a missing member', { op: 'remove', path: '/nobody' }],
    ['an inherited member', { op: 'test', path: '/toString', value: 1 }],
    ['the prototype', { op: 'add', path: '/__proto__/polluted', value: true }],
    ['the prototype through the constructor', { op: 'replace', path: '/a/constructor/prototype', value: 1 }],
    ['the prototype as a copy source', { op: 'copy', from: '/__proto__', path: '/b' }],
    ['an index beyond the end', { op: 'add', path: '/list/4', value: 1 }],
    ['an index with a leading zero', { op: 'replace', path: '/list/01', value: 1 }],
    ['a negative index', { op: 'remove', path: '/list/-1' }],
    ['a list property', { op: 'replace', path: '/list/length', value: 0 }],
    ['a path after the last item', { op: 'remove', path: '/list/-' }],
    ['an invalid pointer', { op: 'add', path: 'a', value: 1 }],
    ['an unescaped pointer', { op: 'add', path: '/~2', value: 1 }],
    ['a part of a string', { op: 'add', path: '/a/b', value: 1 }],
    ['a value moved into itself', { op: 'move', from: '/o', path: '/o/in' }],
    ['removal of the whole document', { op: 'remove', path: '' }],
    ['the whole document moved into itself', { op: 'move', from: '', path: '/o/in' }],
    ['a failed test operation', { op: 'test', path: '/a', value: 'other' }],
  ])('rejects %s without changing the state', (_name, operation) => {
    const state = { a: 'text', list: [1, 2], o: { in: 1 } }
    expect(() => patchedBy(state, [operation])).toThrow(/operations\[0\]/)
    expect(state).toEqual({ a: 'text', list: [1, 2], o: { in: 1 } })
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })

  it('rejects a patch that doubles the state before it exceeds the limit', () => {
    const operations = Array.from({ length: 60 }, (): PatchOperation => ({ op: 'copy', from: '/a', path: '/a/-' }))
    expect(() => patchedBy({ a: ['xxxxxxxxxx'] }, operations, 100_000)).toThrow(/state too large/)
  })
})
