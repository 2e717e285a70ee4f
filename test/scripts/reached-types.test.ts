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

describe('declarations of the package', () => {
  it('keep what a public name leads to, with its comments, and nothing else', () => {
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

  it('are found through files that pass names on, through import types, and as a whole where a file is taken as a whole', () => {
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

  it('stay imported where a file uses a name that it passes on', () => {
    const files = {
      'index.d.ts': "import type { Note } from './note.ts';\nexport type { Note } from './note.ts';\nexport declare const note: Note;\n",
      'note.d.ts': 'export type Note = 1;\n',
    }
    expect(left(files)).toEqual(files)
  })

  it('of other packages stay imported where they are used', () => {
    const files = { 'index.d.ts': "import type { FC, Ref } from 'react';\nexport declare const field: FC;\n" }
    expect(left(files)).toEqual({ 'index.d.ts': "import type { FC } from 'react';\nexport declare const field: FC;\n" })
  })

  it.each([
    ["export * from './a.ts';", /index\.d\.ts has a statement that is not known here: ExportAllDeclaration/],
    ['declare global { interface Window { phi: 1 } }', /not known here: TS/],
    ["import './effect.ts';", /not known here: ImportDeclaration/],
    ["export { gone } from './a.ts';", /a\.d\.ts has no gone/],
    ["export { gone } from './missing.ts';", /missing\.d\.ts is missing/],
  ])('end the build for %s', (code, message) => {
    expect(() => left({ 'index.d.ts': code, 'a.d.ts': 'export type A = 1;' })).toThrow(message)
  })
})
