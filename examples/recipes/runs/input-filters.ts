import { Agent } from 'phi-core'
import type { InputFilter } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'

const noKeys: InputFilter = (text) =>
  /\bsk-\w{8,}/.test(text) ? { type: 'reject', reason: 'Your message contains a key. Send it without.' } : { type: 'pass' }

const german: InputFilter = async (text) =>
  text.includes('ß') ? { type: 'warn', warning: 'The text is German; answer in English.' } : { type: 'pass' }

export async function filtered(write: (line: string) => void): Promise<void> {
  // A scripted model that repeats the warning; no API call is made.
  const model = scripted(({ messages }) => ({ text: JSON.stringify(messages.at(-1)?.content.slice(1)) }))
  const agent = new Agent({ model, inputFilters: [noKeys, german] })

  const refused = await agent.prompt('Is sk-live12345678 valid?').result
  write(`${refused.status}: ${refused.rejection}`)
  write(`history: ${agent.messages.length}, model calls: ${model.provider.requests.length}`)

  write(await agent.prompt('Wie heißt du?').text())
}
