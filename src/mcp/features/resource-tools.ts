import type { JsonObject, JsonSchema } from '../../contract/json.ts'
import { text } from '../../contract/message/message.ts'
import type { ToolResult } from '../../contract/tool/tool-result.ts'
import type { AgentTool, ToolContext } from '../../types/tool/tool.ts'
import { oneLine } from '../call-result.ts'
import type { McpTool } from '../client-like.ts'
import { ruleOf, type ToolSetting } from '../server-tool.ts'
import { supports } from './requests.ts'
import { listResources, readResource } from './resources.ts'

/** Maximum entries per page for the model. */
const perPage = 100

/** Returns the tools `list_resources` and `read_resource` for the model, or none if the server has no resources. */
export function resourceTools(setting: ToolSetting, nameOf: (name: string) => string): AgentTool[] {
  if (!supports(setting, 'resources')) return []
  const readName = nameOf('read_resource')
  return [
    toolOf(
      { name: 'list_resources', title: 'List resources', description: `Lists the resources of this MCP server. ${readName} reads one.` },
      { type: 'object', properties: { offset: { type: 'integer', minimum: 0, description: 'Entries to skip. Default: 0.' } } },
      async ({ offset }, { signal }) => listText(await listResources(setting, signal), typeof offset === 'number' ? offset : 0),
    ),
    toolOf(
      { name: 'read_resource', title: 'Read a resource', description: 'Reads a resource of this MCP server.' },
      {
        type: 'object',
        properties: { uri: { type: 'string', description: 'URI of the resource, as listed, or made from a template.' } },
        required: ['uri'],
      },
      async ({ uri }, { signal }) => ({ content: await readResource(setting, String(uri), signal) }),
    ),
  ]

  function toolOf(
    info: McpTool & { title: string; description: string },
    parameters: JsonSchema,
    execute: (args: JsonObject, ctx: ToolContext) => Promise<ToolResult>,
  ): AgentTool {
    const needsApproval = ruleOf({ ...info, annotations: { readOnlyHint: true } }, setting)
    return {
      name: nameOf(info.name),
      label: info.title,
      description: info.description,
      parameters,
      timeoutMs: setting.limits.totalTimeoutMs,
      idempotent: true,
      ...(needsApproval !== undefined && { needsApproval }),
      execute,
    }
  }
}

function listText({ resources, templates }: Awaited<ReturnType<typeof listResources>>, offset: number): ToolResult {
  const lines = [
    ...resources.map(({ uri, size, ...about }) => `${uri}${detail(about)}${size === undefined ? '' : `, ${size} bytes`}`),
    ...templates.map(({ uriTemplate, ...about }) => `template ${uriTemplate}${detail(about)}`),
  ]
  const shown = lines.slice(offset, offset + perPage)
  const left = lines.length - offset - shown.length
  if (left > 0) shown.push(`[${left} more; continue with offset ${offset + shown.length}]`)
  return { content: [text(shown.join('\n') || '(no resources)')] }
}

function detail({ name, title, description, mimeType }: { name: string; title?: string; description?: string; mimeType?: string }): string {
  const words = description === undefined ? '' : `: ${oneLine(description, 500)}`
  return ` "${oneLine(title ?? name)}"${words}${mimeType === undefined ? '' : ` (${oneLine(mimeType)})`}`
}
