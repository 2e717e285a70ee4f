import { describe, expect, it } from 'vitest'
import { writtenTypes } from '../../scripts/written-types.ts'

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

describe('published declarations', () => {
  it('say fields and unions outright, with their comments, and no table', () => {
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

  it('say what a section of an agent file may hold, and nothing of its keys', () => {
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

  it('refuses a table that it cannot read', () => {
    const odd = 'declare const oddFields: {\n    a: string;\n};\nexport interface Odd extends FieldsOf<typeof oddFields> {\n}\n'
    expect(() => writtenTypes(odd)).toThrow('This is no shape of a table: string')
  })
})
