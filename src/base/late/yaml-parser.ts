import { type LateChunk, lateChunk } from './late-chunk.ts'

/** The YAML parser; only documents, skills and agent files that are YAML need it. */
export const yamlParser: LateChunk<typeof import('yaml')> = lateChunk('the YAML parser', () => import('yaml'))

/** How often aliases of a document may multiply. */
export const maxAliasCount = 100
