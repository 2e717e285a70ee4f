/**
 * `node examples/demo/main.ts ["your prompt"]`: an agent finds a bug in a small project, shows its change, asks for approval, fixes the bug and runs
 * the tests. It needs no key, network or sandbox: the tools can access only a temporary project folder. At the end, it prints the cost and the trace.
 * The model is scripted unless a key or a local server is available.
 */
import { Agent } from 'phi-core'
import { nodeTools } from 'phi-core/node'
import { askPerson, isAttended, isOwnEdit } from './ask.ts'
import { chooseModel } from './choose-model.ts'
import { makeProject } from './project.ts'
import { renderTo } from './render.ts'
import { opening } from './story.ts'
import { traceOf } from './trace.ts'

const prompt = process.argv.slice(2).join(' ').trim() || opening
const { model, description } = await chooseModel()
const project = makeProject()
const fileTools = nodeTools({ root: project.root, bash: false })
const agent = new Agent({
  model,
  tools: [...fileTools.map((tool) => (/^(?:edit|write)_/.test(tool.name) ? { ...tool, needsApproval: true } : tool)), project.runTests],
  systemPrompt:
    'You mend a small JavaScript project. Run its tests first and last. Claim only what tools showed. Answer in a few sentences.',
})

const render = renderTo(process.stdout)
render.note(description)
render.prompt(prompt)
const run = agent.prompt(prompt)
const stopped = new AbortController()
process.on('SIGINT', () => {
  stopped.abort()
  if (run.id === agent.currentRun?.id) run.abort()
  else process.exit(130)
})

const trace = traceOf(model)
for await (const event of run) {
  render.event(event)
  trace.event(event)
  if (event.type !== 'approvalRequested') continue
  render.question(event)
  const isAllowed = isAttended() ? await askPerson(stopped.signal) : isOwnEdit(event)
  if (!isAttended())
    render.note(
      isAllowed ? '  Nobody is here to be asked: it is the change of this script, so it is made.' : '  Nobody is here to be asked: no.',
    )
  if (isAllowed) run.approve(event)
  else run.deny(event, 'The user did not allow this.')
}

const { status, error, usage } = await run.result
render.end(status, error?.message)
for (const text of trace.lines(usage)) render.note(text)
project.remove()
process.exitCode = status === 'completed' ? 0 : status === 'aborted' ? 130 : 1
