import { type LateChunk, lateChunk } from './late-chunk.ts'

/** The YAML parser. Needed only for YAML documents, skills and agent files. */
export const yamlParser: LateChunk<typeof import('yaml')> = lateChunk('the YAML parser', () => import('yaml'))

/** Maximum expansion of a document's aliases. */
export const maxAliasCount = 100
