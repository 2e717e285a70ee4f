import type { McpPrompt } from '../features/prompts.ts'
import type { McpResource, McpResourceTemplate } from '../features/resources.ts'
import type { McpToolSet } from '../tool-set.ts'

/** How long lists are used, in ms. A server reports changes earlier only if it supports that. */
const freshMs = 60_000

/** Lists that a server can cause with changes until its lists are old. */
const mostEarly = 20

/** Values that are completed at most. */
const mostValues = 8
/** Requests whose values are remembered. */
const mostRequests = 500

/** The prompts and resources of one MCP server, as last listed. */
interface Listed {
  readonly set: McpToolSet
  prompts: readonly McpPrompt[]
  resources: readonly McpResource[]
  templates: readonly McpResourceTemplate[]
  listedAt: number
  /** Whether the server reported a change since. */
  isChanged: boolean
  /** Lists after changes, since the last one that was old. */
  early: number
  listing: Promise<void> | undefined
  /** Whether it completes a value. Others wait, because a person types faster. */
  isCompleting: boolean
}

/** A prompt and the server that offers it. */
export interface OfferedPrompt {
  server: string
  set: McpToolSet
  prompt: McpPrompt
}

/** A URI to complete. A beginning of URIs, such as that of a template, is not whole. */
export interface OfferedUri {
  uri: string
  isWhole: boolean
  /** Title or name of the resource. */
  label?: string
}

/** The prompts and resources of MCP servers: listed on first use, after a change, and again after a while. */
export class ServerLists {
  /** Runs when there may be more to complete than before. */
  readonly #onListed: () => void
  readonly #servers = new Map<string, Listed>()
  /** Completed values, by server and request. */
  readonly #values = new Map<string, readonly string[]>()

  constructor(sets: readonly McpToolSet[], onListed: () => void) {
    this.#onListed = onListed
    for (const set of sets) {
      if (set.prefix === undefined) continue
      const none = { prompts: [], resources: [], templates: [], listing: undefined, isCompleting: false }
      const listed: Listed = { set, ...none, listedAt: Number.NEGATIVE_INFINITY, isChanged: false, early: 0 }
      this.#servers.set(set.prefix, listed)
      // Removed when the set is closed.
      set.onListChange(() => {
        listed.isChanged = true
        this.#onListed()
      })
    }
  }

  get names(): string[] {
    return [...this.#servers.keys()]
  }

  setOf(server: string): McpToolSet | undefined {
    return this.#servers.get(server)?.set
  }

  /** Waits until all servers are listed. A server that fails has empty lists. */
  async load(): Promise<void> {
    await Promise.all(Array.from(this.#servers.values(), (listed) => this.#list(listed)))
  }

  /** The prompts that are known now. Only names that can be typed as a command. */
  get prompts(): OfferedPrompt[] {
    return [...this.#servers].flatMap(([server, listed]) => {
      void this.#list(listed)
      return listed.prompts.flatMap((prompt) => (/^[^\s\p{C}]+$/u.test(prompt.name) ? [{ server, set: listed.set, prompt }] : []))
    })
  }

  /** URIs of a server that contain `query`, and values of the template that `query` begins. */
  resources(server: string, query: string): OfferedUri[] {
    const listed = this.#servers.get(server)
    if (listed === undefined) return []
    void this.#list(listed)
    const wanted = query.toLowerCase()
    const found = listed.resources.filter(({ uri, name }) => `${uri} ${name}`.toLowerCase().includes(wanted))
    const whole = found.map(({ uri, name, title = name }) => ({ uri, isWhole: true, ...(title !== uri && { label: title }) }))
    const open = listed.templates.flatMap(({ uriTemplate }) => this.#ofTemplate(server, uriTemplate, query))
    const all: OfferedUri[] = [...whole, ...open]
    return all.filter(({ uri }, at) => all.findIndex((other) => other.uri === uri) === at)
  }

  /** Returns the known values of a prompt argument. Requests more from the server in the background. */
  values(server: string, request: Parameters<McpToolSet['complete']>[0]): readonly string[] {
    const key = JSON.stringify([server, request])
    const known = this.#values.get(key)
    const listed = this.#servers.get(server)
    if (known !== undefined || listed === undefined || listed.isCompleting) return known ?? []
    listed.isCompleting = true
    const store = (values: readonly string[]) => {
      if (this.#values.size > mostRequests) this.#values.clear()
      this.#values.set(key, values.filter((value) => value !== '' && !/\p{C}/u.test(value)).slice(0, mostValues))
      listed.isCompleting = false
      this.#onListed()
    }
    listed.set.complete(request).then(store, () => store([]))
    return []
  }

  #ofTemplate(server: string, template: string, query: string): OfferedUri[] {
    const start = template.indexOf('{')
    const fixed = template.slice(0, start === -1 ? undefined : start)
    if (!query.startsWith(fixed)) return fixed.startsWith(query) ? [{ uri: fixed, isWhole: false }] : []
    // Only a template that ends with its one variable can be completed without parsing it.
    const [, operator, argument] = /^\{(\+?)(\w+)\}$/.exec(template.slice(fixed.length)) ?? []
    if (argument === undefined) return []
    const values = this.values(server, { template, argument, value: query.slice(fixed.length) })
    const encoded = operator === '+' ? encodeURI : encodeURIComponent
    return values.map((value) => ({ uri: fixed + encoded(value), isWhole: true }))
  }

  #list(listed: Listed): Promise<void> {
    if (listed.listing !== undefined) return listed.listing
    const isOld = performance.now() - listed.listedAt >= freshMs
    if (!isOld && (!listed.isChanged || listed.early >= mostEarly)) return Promise.resolve()
    Object.assign(listed, { listedAt: performance.now(), isChanged: false, early: isOld ? 0 : listed.early + 1 })
    const { set } = listed
    const none = { resources: [], templates: [] }
    const reading = Promise.all([set.prompts().catch(() => []), set.resources().catch(() => none)])
    listed.listing = reading.then(([prompts, { resources, templates }]) => {
      Object.assign(listed, { prompts, resources, templates, listing: undefined })
      this.#onListed()
    })
    return listed.listing
  }
}
