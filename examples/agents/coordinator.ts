/**
 * A coordinator that does nothing itself: a researcher reads for it, a coder writes for it. The models are scripted, so that this runs without a key;
 * the tools are real. Put `anthropic('claude-sonnet-4-6', { apiKey })` in place of each `scripted(…)`.
 *
 *   node examples/agents/coordinator.ts
 */
import { Agent, textOf } from 'phi-core'
import { SubAgentTool } from 'phi-core/agents'
import { scripted } from 'phi-core/testing'
import { editFileTool, listFilesTool, memoryWorkspace, readFileTool, searchTool, type Workspace } from 'phi-core/tools'

/** Has only reading tools, so it cannot change a file. */
function researcher(workspace: Workspace): SubAgentTool {
  return new SubAgentTool({
    name: 'researcher',
    description: 'Reads the project and reports what it found, with file and line. Cannot change anything. The task must say all it needs.',
    systemPrompt: 'Answer in one sentence, with file and line.',
    forward: 'events',
    tools: [listFilesTool({ workspace }), readFileTool({ workspace }), searchTool({ workspace })],
    model: scripted([
      { toolCalls: [{ name: 'search', arguments: { pattern: 'Helo' } }] },
      { text: 'The greeting is misspelt in src/greet.js, line 2: "Helo".' },
    ]),
  })
}

function coder(workspace: Workspace): SubAgentTool {
  return new SubAgentTool({
    name: 'coder',
    description: 'Changes files as it is told, and says what it changed. The task must name the file and the change.',
    systemPrompt: 'Change as little as you can.',
    forward: 'events',
    tools: [readFileTool({ workspace }), editFileTool({ workspace })],
    model: scripted([
      { toolCalls: [{ name: 'edit_file', arguments: { path: 'src/greet.js', old_text: 'Helo', new_text: 'Hello' } }] },
      { text: 'Corrected to "Hello" in src/greet.js.' },
    ]),
  })
}

/** Has a bug found and mended; writes who did what. Gives back the file. */
export async function coordinate(write: (line: string) => void): Promise<string> {
  const workspace = memoryWorkspace({ 'src/greet.js': 'export const greet = (name) =>\n  `Helo, $' + '{name}!`\n' })
  const coordinator = new Agent({
    systemPrompt: 'Have the researcher find out, then the coder change. Report what was done.',
    tools: [researcher(workspace), coder(workspace)],
    model: scripted([
      { toolCalls: [{ name: 'researcher', arguments: { task: 'Where is the greeting misspelt?' } }] },
      { toolCalls: [{ name: 'coder', arguments: { task: 'In src/greet.js, line 2, correct "Helo" to "Hello".' } }] },
      { text: 'The greeting was misspelt in src/greet.js; it says "Hello" now.' },
    ]),
  })
  const run = coordinator.prompt('The greeting is misspelt. Mend it.')
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
