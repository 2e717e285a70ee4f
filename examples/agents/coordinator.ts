/**
 * A coordinator that delegates all work: a researcher reads files, and a coder writes them. The models are scripted, so no key is needed; the tools
 * are real. For real models, replace each `scripted(…)` with `anthropic('claude-sonnet-4-6', { apiKey })`.
 *
 *   node examples/agents/coordinator.ts
 */
import { Agent, textOf } from 'phi-core'
import { SubAgentTool } from 'phi-core/agents'
import { scripted } from 'phi-core/testing'
import { editFileTool, listFilesTool, memoryWorkspace, readFileTool, searchTool, type Workspace } from 'phi-core/tools'

/** Has read-only tools, so it cannot change files. */
function researcher(workspace: Workspace): SubAgentTool {
  return new SubAgentTool({
    name: 'researcher',
    description:
      'Reads the project and reports what it found, with file and line. Cannot change anything. The task must be self-contained.',
    systemPrompt: 'Answer in one sentence, with file and line.',
    forward: 'events',
    tools: [listFilesTool({ workspace }), readFileTool({ workspace }), searchTool({ workspace })],
    model: scripted([
      { toolCalls: [{ name: 'search', arguments: { pattern: 'Helo' } }] },
      { text: 'The greeting is misspelled in src/greet.js, line 2: "Helo".' },
    ]),
  })
}

function coder(workspace: Workspace): SubAgentTool {
  return new SubAgentTool({
    name: 'coder',
    description: 'Changes files as instructed and reports the changes. The task must specify the file and the change.',
    systemPrompt: 'Change as little as you can.',
    forward: 'events',
    tools: [readFileTool({ workspace }), editFileTool({ workspace })],
    model: scripted([
      { toolCalls: [{ name: 'edit_file', arguments: { path: 'src/greet.js', old_text: 'Helo', new_text: 'Hello' } }] },
      { text: 'Corrected to "Hello" in src/greet.js.' },
    ]),
  })
}

/** Has the team find and fix a bug, and prints who did what. Returns the fixed file. */
export async function coordinate(write: (line: string) => void): Promise<string> {
  const workspace = memoryWorkspace({ 'src/greet.js': 'export const greet = (name) =>\n  `Helo, $' + '{name}!`\n' })
  const coordinator = new Agent({
    systemPrompt: 'Ask the researcher to find the problem, then the coder to fix it. Report the result.',
    tools: [researcher(workspace), coder(workspace)],
    model: scripted([
      { toolCalls: [{ name: 'researcher', arguments: { task: 'Where is the greeting misspelled?' } }] },
      { toolCalls: [{ name: 'coder', arguments: { task: 'In src/greet.js, line 2, correct "Helo" to "Hello".' } }] },
      { text: 'The greeting was misspelled in src/greet.js; it says "Hello" now.' },
    ]),
  })
  const run = coordinator.prompt('The greeting is misspelled. Fix it.')
  for await (const event of run) {
    if (event.type === 'toolExecutionStart') write(`→ ${event.toolName}: ${event.args.task}`)
    if (event.type === 'childEvent' && event.event.type === 'toolExecutionStart')
      write(`    ${event.toolName} calls ${event.event.toolName}`)
    if (event.type === 'toolExecutionEnd') write(`← ${event.toolName}: ${textOf(event.result.content)}`)
  }
  write(await run.text())
  return new TextDecoder().decode(await workspace.read('src/greet.js'))
}

if (import.meta.main) console.log(`\n${await coordinate((line) => console.log(line))}`)
