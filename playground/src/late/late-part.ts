import { signal } from '@preact/signals'
import { isMissingPart, MissingPart } from './missing-part.ts'

/** Page code that loads on demand. */
export interface LatePart<Part> {
  /** The part, once it has loaded. Components and effects that read it update when it loads. */
  readonly loaded: Part | undefined
  /** Loads the part. Rejects on failure, and the next call tries again. */
  load(): Promise<Part>
}

/** Creates a part that `load` loads once. */
export function latePart<Part>(load: () => Promise<Part>): LatePart<Part> {
  const loaded = signal<Part | undefined>(undefined)
  let loading: Promise<Part> | undefined

  async function attempt(): Promise<Part> {
    try {
      const part = await load()
      loaded.value = part
      return part
    } catch (error) {
      loading = undefined
      throw isMissingPart(error) ? new MissingPart(error) : error
    }
  }

  return {
    get loaded() {
      return loaded.value
    },
    load() {
      loading ??= attempt()
      return loading
    },
  }
}
