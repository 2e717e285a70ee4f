import type { ToolCallContent } from '../../contract/message/content.ts'
import { textOf } from '../../contract/message/message.ts'
import { type ExecutionLimits, fullLimits, type ReachedLimit } from '../../contract/run/settings.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'

/** A refused call, and how many turns in a row it was refused in the same way. */
interface Refusal {
  toolName: string
  said: string
  turns: number
}

/**
 * Counts the turns in a row in which no call was run and the same one was refused: a model that was told three times what is wrong will not hear it the
 * fourth time.
 */
export class Refusals {
  readonly #max: number
  /** Of the turn before, and of the one under way, by what they are the same in. */
  #before = new Map<string, Refusal>()
  #now = new Map<string, Refusal>()
  #hasRun = false

  constructor(limits: Partial<ExecutionLimits> | false | undefined) {
    this.#max = limits === false ? Number.POSITIVE_INFINITY : fullLimits(limits).maxSameRefusals
  }

  /** `call` is answered with `result` and not run. */
  add({ name: toolName, arguments: args, invalidArguments }: ToolCallContent, { content }: ToolResult): void {
    const said = textOf(content)
    const key = JSON.stringify([toolName, invalidArguments ?? args, said])
    this.#now.set(key, { toolName, said, turns: (this.#before.get(key)?.turns ?? 0) + 1 })
  }

  /** A call is run: the turn gets somewhere. */
  clear(): void {
    this.#hasRun = true
  }

  /** Closes a turn. The limit, where the same call was refused too often. */
  closeTurn(): ReachedLimit | undefined {
    const hasRun = this.#hasRun
    this.#hasRun = false
    if (this.#now.size === 0 && this.#before.size === 0) return undefined
    this.#before = hasRun ? new Map() : this.#now
    this.#now = new Map()
    for (const { toolName, said, turns } of this.#before.values()) {
      if (turns < this.#max) continue
      const reason = `The same call of ${toolName} was refused ${turns} times in a row (maxSameRefusals): ${said.slice(0, 200)}`
      return { name: 'maxSameRefusals', reason, max: this.#max, used: turns }
    }
    return undefined
  }
}
