import { Agent } from 'phi-core'
import type { LoopHooks } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'

/** Rejects a response that names a customer, and removes phone numbers. */
const hooks: LoopHooks = {
  afterAnswer: ({ text }) => {
    if (/ACME/.test(text)) return { allow: false, reason: 'it names a customer' }
    if (/\+\d{6,}/.test(text)) return { text: text.replace(/\+\d{6,}/g, '[a number]') }
    return true
  },
}

export async function guarded(write: (line: string) => void): Promise<void> {
  const scripts = [['ACME pays late.', 'A customer pays late.'], ['Call +4912345678.'], ['ACME pays late.', 'ACME, as I said.']]
  for (const answers of scripts) {
    // A scripted model; no API call is made.
    const agent = new Agent({ model: scripted(answers.map((text) => ({ text }))), hooks })
    const run = agent.prompt('Who pays late?')
    for await (const event of run)
      if (event.type === 'messageEnd' && event.message.role === 'assistant' && event.message.guarded !== undefined)
        write(`guarded: ${JSON.stringify(event.message.guarded)}`)
    const { status, text, rejection } = await run.result
    write(`${status}: ${text || rejection}`)
  }
}
