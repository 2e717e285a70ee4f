import { isMissingPart, MissingPart } from './missing-part.ts'

/** Code of the page that comes when it is needed. */
export interface LatePart<Part> {
  /** The part, once it is there. */
  readonly loaded: Part | undefined
  /** Resolves with it. Rejects where it cannot be had; the next call tries again. */
  load(): Promise<Part>
}

/** What `load` gives, asked for once. */
export function latePart<Part>(load: () => Promise<Part>): LatePart<Part> {
  let loaded: Part | undefined
  let loading: Promise<Part> | undefined

  async function attempt(): Promise<Part> {
    try {
      loaded = await load()
      return loaded
    } catch (error) {
      loading = undefined
      throw isMissingPart(error) ? new MissingPart(error) : error
    }
  }

  return {
    get loaded() {
      return loaded
    },
    load() {
      loading ??= attempt()
      return loading
    },
  }
}
