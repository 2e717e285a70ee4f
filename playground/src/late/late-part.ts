import { signal } from '@preact/signals'
import { isMissingPart, MissingPart } from './missing-part.ts'

/** Code of the page that comes when it is needed. */
export interface LatePart<Part> {
  /** The part, once it is there. A component or effect that reads it follows it. */
  readonly loaded: Part | undefined
  /** Loads the part. Rejects on failure; the next call tries again. */
  load(): Promise<Part>
}

/** Creates a part that `load` provides once. */
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
