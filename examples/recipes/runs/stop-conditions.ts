import { Agent, defineTool } from 'phi-core'
import { costOver, type StopCondition, toolCalled, turnCount } from 'phi-core/loop'
import { scripted } from 'phi-core/testing'

const look = defineTool<{ at: string }>({
  name: 'look',
  description: 'Looks at a page.',
  parameters: { type: 'object', properties: { at: { type: 'string' } }, required: ['at'] },
  execute: ({ at }) => `${at}: nothing`,
})

/** Ends the run with a report. */
const report = defineTool<{ text: string }>({
  name: 'report',
  description: 'Submits the final report.',
  parameters: { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] },
  execute: ({ text }) => ({ content: [{ type: 'text', text }], endRun: true }),
})

/** Returns true if two consecutive searches found nothing. */
const foundNothing: StopCondition = ({ turns, toolResults }) =>
  turns > 1 && toolResults.every(({ content }) => JSON.stringify(content).includes('nothing'))

export async function whenItEnds(write: (line: string) => void): Promise<void> {
  const call = (name: string, args: object) => ({ toolCalls: [{ name, arguments: { ...args } }] })
  const looks = ['a', 'b', 'c'].map((at) => call('look', { at }))
  const stopWhen = { none: [], count: [turnCount(2), costOver(0.5)], called: toolCalled('look'), own: foundNothing }
  for (const [name, condition] of Object.entries(stopWhen)) {
    // A scripted model; no API call is made.
    const model = scripted([...looks, call('report', { text: 'All is empty.' })])
    const agent = new Agent({ model, tools: [look, report], stopWhen: condition })
    const { status, endedBy, messages } = await agent.prompt('Look around.').result
    const turns = messages.filter(({ role }) => role === 'assistant').length
    write(`${name}: ${status} after ${turns} turn(s), by ${JSON.stringify(endedBy)}`)
  }
}
