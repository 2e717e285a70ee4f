/**
 * `npm run demo [-- "your prompt"]`: an agent in the terminal that works on this repository with real tools. No key, no network. The one command of
 * its own script runs unasked, in the sandbox; every other command asks, and without a terminal the answer is no.
 * The model is scripted unless a key or a local server is there; what it says about the repository comes from the tools.
 */
import { fileURLToPath } from 'node:url'
import { Agent, type AgentTool } from 'phi-core'
import { nodeTools, SandboxUnavailable } from 'phi-core/adapters/node'
import { askPerson, isOwnCommand } from './ask.ts'
import { chooseModel } from './choose-model.ts'
import { renderTo } from './render.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const tour = 'How many TypeScript files does this repository track, which one is the largest, and how many lines has it?'
const prompt = process.argv.slice(2).join(' ').trim() || tour

/** All six tools; without a sandbox, all but bash, saying what to install. */
function tools(): AgentTool[] {
  try {
    return nodeTools({ root })
  } catch (error) {
    if (!(error instanceof SandboxUnavailable)) throw error
    console.log(`${error.message}\nGoing on without bash.\n`)
    return nodeTools({ root, bash: false })
  }
}

const { model, description } = await chooseModel()
console.log(`${description}\n`)

const agent = new Agent({
  model,
  tools: tools(),
  systemPrompt: 'You look at a source repository with tools. Claim only what their output shows. Answer in a few sentences.',
})
const run = agent.prompt(prompt)
const stopped = new AbortController()

process.on('SIGINT', () => {
  stopped.abort()
  if (run.id === agent.currentRun?.id) run.abort()
  else process.exit(130)
})

const render = renderTo(process.stdout)
render.prompt(prompt)
for await (const event of run) {
  render.event(event)
  if (event.type !== 'approvalRequested') continue
  const isAllowed = isOwnCommand(event) || (await askPerson(event, stopped.signal))
  if (isAllowed) run.approve(event)
  else run.deny(event, 'The user did not allow this command.')
  render.decided(event, isAllowed)
}

const { status, error, usage } = await run.result
render.end(status, usage, error?.message)
process.exitCode = status === 'completed' ? 0 : status === 'aborted' ? 130 : 1
