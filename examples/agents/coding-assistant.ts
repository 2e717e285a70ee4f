/**
 * A coding assistant in one file: all six tools for a directory, a prompt, and an approval for each command. `phi` adds a better interface, sessions
 * and a choice of models. The model is scripted, so no key is needed; the tools are real. For a real model, use
 * `anthropic('claude-sonnet-4-6', { apiKey })`.
 *
 *   node examples/agents/coding-assistant.ts [DIRECTORY]
 */
import { createInterface, type Interface } from 'node:readline/promises'
import { Agent, type AgentTool, textOf } from 'phi-core'
import { nodeTools, SandboxUnavailable } from 'phi-core/node'
import type { StreamRequest } from 'phi-core/providers'
import { escapeControls } from 'phi-core/store'
import { type ScriptedStep, scripted } from 'phi-core/testing'

/** All six tools, or five without bash if there is no sandbox. */
function toolsIn(root: string): AgentTool[] {
  try {
    return nodeTools({ root })
  } catch (error) {
    if (!SandboxUnavailable.isInstance(error)) throw error
    console.error(error.message)
    return nodeTools({ root, bash: false })
  }
}

/** Reads the directory, runs an approved command and reports the result. */
function script({ messages, tools }: StreamRequest): ScriptedStep {
  const from = messages.findLastIndex(({ role }) => role === 'user')
  const results = messages.slice(from).flatMap((message) => (message.role === 'toolResult' ? [message] : []))
  if (results.length === 0) return { text: 'I look around.', toolCalls: [{ name: 'list_files', arguments: { path: '.' } }] }
  const hasBash = tools.some(({ name }) => name === 'bash')
  if (results.length === 1 && hasBash) return { toolCalls: [{ name: 'bash', arguments: { command: 'ls | wc -l' } }] }
  return { text: `What I saw: ${results.map(({ content }) => textOf(content).replace(/\s+/g, ' ').trim()).join(' / ')}` }
}

async function answer(agent: Agent, prompt: string, terminal: Interface): Promise<void> {
  const run = agent.prompt(prompt)
  const stop = () => run.abort()
  terminal.on('SIGINT', stop)
  for await (const event of run) {
    if (event.type === 'messageUpdate' && event.delta.type === 'text') process.stdout.write(escapeControls(event.delta.delta))
    if (event.type === 'messageEnd' && event.message.role === 'assistant') process.stdout.write('\n')
    if (event.type === 'toolExecutionStart') console.log(escapeControls(`⚙ ${event.toolName} ${JSON.stringify(event.args)}`))
    if (event.type !== 'approvalRequested') continue
    const shown = escapeControls(JSON.stringify(event.args))
    // A closed input denies the call.
    const reply = await terminal.question(`? ${event.toolName} ${shown}\n  Allow? [y/N] `).catch(() => '')
    if (reply.trim() === 'y') run.approve(event)
    else run.deny(event, 'The user did not allow this.')
  }
  terminal.off('SIGINT', stop)
}

const root = process.argv[2] ?? process.cwd()
const agent = new Agent({
  model: scripted(script),
  tools: toolsIn(root),
  systemPrompt: 'You work on the files of one directory. Look first.',
})
const terminal = createInterface({ input: process.stdin, output: process.stdout })
console.log('The model is scripted. Say something; an empty line ends.')
for (;;) {
  const prompt = await terminal.question('> ').catch(() => '')
  if (prompt.trim() === '') break
  await answer(agent, prompt, terminal)
}
terminal.close()
