import type { AgentMessage } from '../../contract/message/message.ts'
import type { AgentTool } from '../../types/tool/tool.ts'

/** The tools, then those that come with them. */
function withCompanions(tools: readonly AgentTool[]): readonly AgentTool[] {
  const companions = new Set(tools.flatMap((tool) => tool.companions ?? []))
  for (const tool of tools) companions.delete(tool)
  return companions.size === 0 ? tools : [...tools, ...companions]
}

/** What of a list of tools a turn works with. */
export interface Offer {
  /** Those that the model is shown. */
  tools: readonly AgentTool[]
  /** Those among which a service may search; they can be called too. */
  searchable: readonly AgentTool[]
}

/** Which tools of a list are offered: all, but for those that a search has to find first. Of a history that grows only what is new is looked at. */
export class OfferedTools {
  /** Names, in the order in which they were found, or called. */
  readonly #named = new Map<string, 'found' | 'called'>()
  #seen = 0
  #changes = 0
  /** What was made last, of which tools and after how many names: the same lists each time, so that encoded forms are found again. */
  #last: { of: readonly AgentTool[]; changes: number; offer: Offer } | undefined

  of(tools: readonly AgentTool[], messages: readonly AgentMessage[]): Offer {
    if (tools.every((tool) => tool.isOffered !== 'whenFound' && tool.companions === undefined)) return { tools, searchable: [] }
    this.#look(messages)
    const changes = this.#changes
    if (this.#last?.of !== tools || this.#last.changes !== changes) this.#last = { of: tools, changes, offer: this.#offer(tools) }
    return this.#last.offer
  }

  #offer(tools: readonly AgentTool[]): Offer {
    const hidden = new Map(tools.filter(({ isOffered }) => isOffered === 'whenFound').map((tool) => [tool.name, tool]))
    const names = new Set(tools.flatMap(({ searches = [] }) => searches))
    // A service finds tools without a word to us: the call tells it.
    const found = [...this.#named].flatMap(([name, how]) => (how === 'found' || names.has(name) ? (hidden.get(name) ?? []) : []))
    return {
      tools: withCompanions([...tools.filter(({ isOffered }) => isOffered !== 'whenFound'), ...found]),
      searchable: [...hidden.values()].filter(({ name }) => names.has(name)),
    }
  }

  #look(messages: readonly AgentMessage[]): void {
    for (; this.#seen < messages.length; this.#seen += 1) {
      const message = messages[this.#seen]
      if (message?.role === 'toolResult') for (const name of message.offers ?? []) this.#add(name, 'found')
      if (message?.role === 'assistant') for (const block of message.content) if (block.type === 'toolCall') this.#add(block.name, 'called')
    }
  }

  #add(name: string, how: 'found' | 'called'): void {
    const known = this.#named.get(name)
    if (known === 'found' || known === how) return
    this.#changes += 1
    // What a model called in vain stands where it was found later.
    if (how === 'found') this.#named.delete(name)
    this.#named.set(name, how)
  }
}
