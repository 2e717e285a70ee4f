import { describe, expect, it } from 'vitest'
import { withUndefined } from '../../scripts/build/optional-types.ts'
import { writtenTypes } from '../../scripts/build/written-types.ts'

const declared = `import { type FieldsOf, type Infer, type ShapeOf } from '../shape/shape.ts';
/** In words. */
export declare const mood: import("../shape/shape.ts").Word<"bad" | "good">;
/** How it is. */
export type Mood = Infer<typeof mood>;
declare const noteFields: {
    /** What it says; not empty. */
    text: ShapeOf<string>;
    mood: import("../shape/shape.ts").Word<"bad" | "good"> & import("../shape/shape.ts").Filled;
    parts: import("../shape/shape.ts").GivenShape<{
        a: number;
    }[], readonly string[]> & import("../shape/shape.ts").Optional;
    act: ShapeOf<(value: string) => void>;
};
/** A note. */
export interface Note extends FieldsOf<typeof noteFields> {
}
`

describe('writtenTypes', () => {
  it('replaces table types with explicit fields, unions and comments', () => {
    const written = writtenTypes(declared)
    expect(written).toContain(`/** A note. */
export interface Note {
    /** What it says; not empty. */
    text: string;
    mood: Mood;
    parts?: {
        a: number;
    }[];
    act: (value: string) => void;
}`)
    expect(written).toContain('export type Mood = "bad" | "good";')
    expect(written).not.toMatch(/noteFields|import\("|extends FieldsOf/)
  })

  it('writes the values of an agent file section without its keys', () => {
    const written = writtenTypes(`import type { KeyOf } from './key-table.ts';
/** All keys. */
export declare const noteKeys: {
    id: KeyOf<string>;
    parts: KeyOf<string[]> & import("../../contract/shape/shape.ts").Optional;
};
/** \`[note]\`: what is kept. */
export interface NoteSection extends FieldsOf<typeof noteKeys> {
}
`)
    expect(written).toContain('/** `[note]`: what is kept. */\nexport interface NoteSection {\n    id: string;\n    parts?: string[];\n}')
    expect(written).not.toMatch(/noteKeys|All keys|KeyOf<|shape\.ts/)
  })

  it('rejects a table that it cannot parse', () => {
    const odd = 'declare const oddFields: {\n    a: string;\n};\nexport interface Odd extends FieldsOf<typeof oddFields> {\n}\n'
    expect(() => writtenTypes(odd)).toThrow('This is no shape of a table: string')
  })
})

describe('withUndefined', () => {
  it.each([
    ['a?: string;', 'a?: string | undefined;'],
    ["'a-b'?: 'x;y' | \"z?: 1;\";", "'a-b'?: 'x;y' | \"z?: 1;\" | undefined;"],
    ['readonly a?: readonly string[];', 'readonly a?: (readonly string[]) | undefined;'],
    [
      '/** b?: what; */ a?: { b?: Map<string, number>; c: 1; };',
      '/** b?: what; */ a?: { b?: Map<string, number> | undefined; c: 1; } | undefined;',
    ],
    ['a?: (b?: string, c?: { d?: 1; }) => 2 | undefined;', 'a?: ((b?: string, c?: { d?: 1 | undefined; }) => 2 | undefined) | undefined;'],
    ['a?<T>(b: T, c?: [d?: T, e?: 1]): Promise<T>;', 'a?: (<T>(b: T, c?: [d?: T, e?: 1]) => Promise<T>) | undefined;'],
    ['[K in keyof T]?: T[K];', '[K in keyof T]?: T[K] | undefined;'],
    ['a: T extends { b?: infer B; } ? B : C;', 'a: T extends { b?: infer B; } ? B : C;'],
    ['a?: unknown;', 'a?: unknown;'],
    ['a?: string | undefined;', 'a?: string | undefined;'],
  ])('adds undefined to optional properties: %s', (declared, written) => {
    expect(withUndefined(`export interface X {\n    ${declared}\n}\n`)).toBe(`export interface X {\n    ${written}\n}\n`)
  })

  it('adds undefined to every property of a Partial', () => {
    expect(withUndefined('export interface X extends Partial<Y> {\n    a: Partial<Z>;\n}\n')).toBe(
      'export interface X extends PartialOrUndefined<Y> {\n    a: PartialOrUndefined<Z>;\n}\ntype PartialOrUndefined<T> = {\n    [K in keyof T]?: T[K] | undefined;\n};\nexport {};\n',
    )
  })
})
