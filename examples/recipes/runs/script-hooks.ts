import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Agent, defineTool, textOf } from 'phi-core'
import { scriptHooks } from 'phi-core/node'
import { scripted } from 'phi-core/testing'

const checkCall = `#!/bin/sh
# Reads one line of JSON about the call. No output allows the call.
case $(cat) in *'"path":"/etc/'*) echo '{"allow": false, "reason": "/etc is off limits"}' ;; esac
`

const remove = defineTool<{ path: string }>({
  name: 'remove',
  description: 'Removes a file.',
  parameters: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
  execute: ({ path }) => `removed ${path}`,
})

export async function watchedByScripts(directory: string, write: (line: string) => void): Promise<void> {
  await writeFile(join(directory, 'check-call.sh'), checkCall)
  await writeFile(join(directory, 'count.sh'), 'cat >> turns.jsonl')
  const hooks = scriptHooks({ root: directory, scripts: { beforeToolExecution: 'check-call.sh', afterTurn: 'count.sh' } })

  // A scripted model; no API call is made.
  const call = (path: string) => ({ name: 'remove', arguments: { path } })
  const model = scripted([
    { toolCalls: [call('/etc/hosts'), call('notes.txt')] },
    { text: 'One of two.' },
    { toolCalls: [call('/etc/hosts')] },
    { text: 'The changed hook blocked it.' },
  ])
  const agent = new Agent({
    model,
    tools: [remove],
    hooks,
    logger: { warn: (event, { message }) => write(`${event}: ${String(message)}`) },
  })
  write(await agent.prompt('Remove both.').text())
  // Changes the script, as a tool could. A changed script does not run, and the hook vetoes the call.
  await writeFile(join(directory, 'check-call.sh'), 'exit 0')
  write(await agent.prompt('Try again.').text())
  for (const message of agent.messages) if (message.role === 'toolResult') write(textOf(message.content))
}
