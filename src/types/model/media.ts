import type { FileContent, ImageContent } from '../../contract/message/content.ts'

/** Media that a service does not fetch itself. */
export interface MediaQuery {
  /** As it stands in the message: nobody has checked where it leads. */
  url: string
  /** What the message says it is. */
  mimeType: string
  /** Owned by the run; aborts with it. */
  signal: AbortSignal
}

/**
 * Fetches media for services that fetch nothing themselves. Addresses come from users, clients and tools: your function decides which hosts are asked.
 * `fetchMedia` of `phi-core/media` is one that guards.
 *
 * **Contract**
 * - It is asked once per block and agent; what it gave is kept as long as the block. A failure is remembered for the rest of the run.
 * - What it throws, or rejects with, says why: a line with that stands for the block, or, with `requireMedia`, the call fails.
 * - Bytes that contradict `mimeType` count as a failure.
 *
 * Source: docs/concepts/files.md
 */
export type ResolveMedia = (query: MediaQuery) => Blob | Uint8Array | Promise<Blob | Uint8Array>

/**
 * The same block, with its bytes in place of its address or its `blob`; the same object at each call, the block itself where nobody has them. Rejects with
 * why not.
 */
export type MediaWithBytes = (block: ImageContent | FileContent) => Promise<ImageContent | FileContent>
