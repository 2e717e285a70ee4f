import { describe, expect, it } from 'vitest'
import { reachedTypes } from '../../scripts/build/reached-types.ts'

/** What is left of these files, where `index.d.ts` is the entry. */
function left(files: Record<string, string>): Record<string, string> {
  const textOf = (path: string): string => {
    const text = files[path]
    if (text === undefined) throw new Error(`${path} is missing`)
    return text
  }
  return Object.fromEntries(reachedTypes(['index.d.ts'], textOf))
}

const index = "export { type Note, note } from './parts/note.ts';\n"

describe('declarations reachable from public names', () => {
  it('includes reachable declarations with their comments, and nothing else', () => {
    const files = {
      'index.d.ts': index,
      'parts/note.d.ts': `/** Notes and their kinds. */
import type { Kind, Mood } from './kind.ts';
import { type Text as Words } from '../text.ts';
/** A table. */
export declare const noteFields: Mood;
/** A note. */
export interface Note {
    /** What it says. */
    words: Words;
    kind: Hidden;
}
type Hidden = Kind[];
/** Makes one. */
export declare function note(): Note;
export declare function note(words: string): Note;
export declare function dropped(): Note;
`,
      'parts/kind.d.ts': 'export type Kind = "a";\nexport type Mood = "b";\n',
      'text.d.ts': "import type { Gone } from './gone.ts';\nexport type Text = string;\nexport type Unused = Gone;\n",
    }
    expect(left(files)).toEqual({
      'index.d.ts': index,
      'parts/note.d.ts': `/** Notes and their kinds. */
import type { Kind } from './kind.ts';
import { type Text as Words } from '../text.ts';
/** A note. */
export interface Note {
    /** What it says. */
    words: Words;
    kind: Hidden;
}
type Hidden = Kind[];
/** Makes one. */
export declare function note(): Note;
export declare function note(words: string): Note;
`,
      'parts/kind.d.ts': 'export type Kind = "a";\n',
      'text.d.ts': 'export type Text = string;\n',
    })
  })

  it('follows re-exports and import types, and keeps a namespace import complete', () => {
    const files = {
      'index.d.ts': `export { a as Public, each } from './passing.ts';\nexport declare const inline: import("./inline.ts").Inner;\n`,
      'passing.d.ts':
        "import type * as whole from './whole.ts';\nexport { a, b } from './real.ts';\ndeclare const each: typeof whole;\nexport { each };\n",
      'real.d.ts': 'export type a = 1;\nexport type b = 2;\n',
      'inline.d.ts': 'export type Inner = 1;\nexport type Other = 2;\n',
      'whole.d.ts': 'export type First = 1;\nexport type Second = 2;\n',
    }
    expect(left(files)).toEqual({
      ...files,
      'passing.d.ts': files['passing.d.ts'].replace('{ a, b }', '{ a }'),
      'real.d.ts': 'export type a = 1;\n',
      'inline.d.ts': 'export type Inner = 1;\n',
    })
  })

  it('keeps the import of a re-exported name that the file uses', () => {
    const files = {
      'index.d.ts': "import type { Note } from './note.ts';\nexport type { Note } from './note.ts';\nexport declare const note: Note;\n",
      'note.d.ts': 'export type Note = 1;\n',
    }
    expect(left(files)).toEqual(files)
  })

  it('keeps used imports of other packages', () => {
    const files = { 'index.d.ts': "import type { FC, Ref } from 'react';\nexport declare const field: FC;\n" }
    expect(left(files)).toEqual({ 'index.d.ts': "import type { FC } from 'react';\nexport declare const field: FC;\n" })
  })

  it.each([
    ["export * from './a.ts';", /index\.d\.ts has a statement that is not known here: ExportAllDeclaration/],
    ['declare global { interface Window { phi: 1 } }', /not known here: TS/],
    ["import './effect.ts';", /not known here: ImportDeclaration/],
    ["export { gone } from './a.ts';", /a\.d\.ts has no gone/],
    ["export { gone } from './missing.ts';", /missing\.d\.ts is missing/],
  ])('fails the build for %s', (code, message) => {
    expect(() => left({ 'index.d.ts': code, 'a.d.ts': 'export type A = 1;' })).toThrow(message)
  })
})
