import type { ToolCallContent } from '../../contract/message/content.ts'
import { textOf } from '../../contract/message/message.ts'
import { type ExecutionLimits, fullLimits, type ReachedLimit } from '../../contract/run/settings.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'

/** A rejected call, and the number of consecutive turns that rejected it. */
interface Refusal {
  toolName: string
  refusalText: string
  turns: number
}

/**
 * Counts consecutive turns that ran no call and rejected the same call. At a limit, the run ends, because the model keeps ignoring the
 * error.
 */
export class Refusals {
  readonly #max: number
  /** Rejections in the previous and current turn, by call and error. */
  #before = new Map<string, Refusal>()
  #now = new Map<string, Refusal>()
  #hasRun = false

  constructor(limits: Partial<ExecutionLimits> | false | undefined) {
    this.#max = limits === false ? Number.POSITIVE_INFINITY : fullLimits(limits).maxSameRefusals
  }

  /** Counts a rejected `call`. */
  add({ name: toolName, arguments: args, invalidArguments }: ToolCallContent, { content }: ToolResult): void {
    const refusalText = textOf(content)
    const key = JSON.stringify([toolName, invalidArguments ?? args, refusalText])
    this.#now.set(key, { toolName, refusalText, turns: (this.#before.get(key)?.turns ?? 0) + 1 })
  }

  /** Resets the count, because a turn that runs a call makes progress. */
  clear(): void {
    this.#hasRun = true
  }

  /** Ends the turn. Returns the reached limit, if any. */
  closeTurn(): ReachedLimit | undefined {
    const hasRun = this.#hasRun
    this.#hasRun = false
    if (this.#now.size === 0 && this.#before.size === 0) return undefined
    this.#before = hasRun ? new Map() : this.#now
    this.#now = new Map()
    for (const { toolName, refusalText, turns } of this.#before.values()) {
      if (turns < this.#max) continue
      const reason = `The same ${toolName} call was refused ${turns} times in a row (maxSameRefusals): ${refusalText.slice(0, 200)}`
      return { name: 'maxSameRefusals', reason, max: this.#max, used: turns }
    }
    return undefined
  }
}
