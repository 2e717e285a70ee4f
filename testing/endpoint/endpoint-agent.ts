import type { AgentOptions } from '../../src/agent/agent-options.ts'
import { type Message, textOf } from '../../src/contract/message/message.ts'
import { type Script, scripted } from '../../src/providers/scripted/index.ts'
import { sharedState } from '../../src/shared-state/shared-state.ts'
import { clientTool } from '../../src/tools/client-tool.ts'
import { defineTool } from '../../src/tools/define-tool.ts'

const words = ['one ', 'two ', 'three ', 'four']
const counted = Array.from({ length: 150 }, (_, at) => `${at} `)

/** `response` is the text after the mail was sent. */
function mailing(id?: string, response: string | string[] = 'Sent.'): Script {
  return ({ messages }) => {
    const results = sinceLastPrompt(messages).filter(({ role }) => role === 'toolResult')
    const call = { name: 'send_mail', arguments: { to: 'ada@example.org' }, ...(id !== undefined && { id }) }
    if (results.length === 0) return { toolCalls: [call] }
    return { text: results.some((result) => 'isError' in result && result.isError) ? 'Not sent.' : response }
  }
}

/** The model's response depends on the results that it receives rather than on the number of calls, because hosts restart. */
const scripts: Record<string, Script> = {
  talk: () => ({ text: words }),
  slow: () => ({ text: counted }),
  meet: ({ messages }) => {
    const isSent = sinceLastPrompt(messages).some(({ role }) => role === 'toolResult')
    if (isSent) return { text: words }
    return { text: counted, toolCalls: [{ name: 'send_mail', arguments: { to: 'ada@example.org' } }] }
  },
  // The tool is slow after the decision, so that another request can arrive in the meantime.
  report: mailing(undefined, counted),
  ask: mailing(),
  page: ({ messages, tools }) => {
    const results = sinceLastPrompt(messages).filter(({ role }) => role === 'toolResult')
    if (results.length > 0) return { text: results.map((result) => textOf(result.content)).join(' ') }
    const name = tools.some((tool) => tool.name === 'locate') ? 'locate' : 'set_theme'
    return { toolCalls: [{ name, arguments: name === 'locate' ? {} : { theme: 'dark' } }] }
  },
  // Imitates an id from a provider with its own format.
  odd: mailing('call/1?%2f#ö'),
}

/**
 * Creates the scripted agent for the endpoint that `agentEndpointSuite` tests. The first word of the session id selects its script.
 *
 * Source: docs/guides/serve-over-http.md
 */
export function endpointAgent(sessionId: string): Pick<AgentOptions, 'model' | 'tools' | 'systemPrompt' | 'choices' | 'sharedState'> {
  const kind = sessionId.split('-')[0] ?? ''
  const forPages = kind === 'page'
  return {
    model: scripted(scripts[kind] ?? [], { delayMs: ['slow', 'meet', 'report'].includes(kind) ? 5 : 0 }),
    systemPrompt: 'This text stays on the server.',
    tools: forPages ? [sendMail, setTheme] : [sendMail],
    ...(forPages && { sharedState: notes, choices: { models: { deep }, thinking: ['off', 'high'], clientTools: ['locate'] } }),
  }
}

const sendMail = defineTool({
  name: 'send_mail',
  label: 'Send mail',
  description: 'Sends a mail.',
  parameters: { type: 'object', properties: { to: { type: 'string' } }, required: ['to'] },
  needsApproval: true,
  execute: ({ to }) => `Sent to ${to}.`,
})

const setTheme = clientTool({
  name: 'set_theme',
  description: 'Sets the colours of the page.',
  parameters: { type: 'object', properties: { theme: { type: 'string' } }, required: ['theme'] },
})

const notes = sharedState({
  schema: { type: 'object', properties: { notes: { type: 'array', items: { type: 'string' } } }, required: ['notes'] },
  initial: { notes: [] },
})

const deep = scripted(() => ({ text: 'A deep answer.' }), { id: 'deep' })

function sinceLastPrompt(messages: readonly Message[]): Message[] {
  return messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
}
