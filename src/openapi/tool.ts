import { logWarning } from '../base/log-warning.ts'
import { ConfigError } from '../contract/errors.ts'
import { type JsonSchema, setOwnField } from '../contract/json.ts'
import type { ApprovalRule } from '../types/run/question.ts'
import type { StandardSchema } from '../types/standard-schema.ts'
import type { AgentTool, ToolParameters } from '../types/tool/tool.ts'
import { cheapSchema } from '../validation/cheap-schema.ts'
import { enforceableSchema } from '../validation/enforceable-schema.ts'
import { jsonSchemaValidator } from '../validation/json-schema-validator.ts'
import { callOperation } from './call/call.ts'
import { type Body, type Inputs, inputsOf } from './call/parameters.ts'
import { authorizationsOf, sentByCaller } from './call/security.ts'
import { dereference, field, listField, type OpenApiDocument, textField } from './document.ts'
import type { Operation } from './operations.ts'
import type { OpenApiToolsOptions } from './options.ts'
import { SchemaWriter } from './schema.ts'
import { baseUrlOf } from './servers.ts'

/** Called with the parts of a tool's schema that are not enforced. */
export type LostParts = (tool: string, lost: ReadonlySet<string>) => void

/** Maximum subschemas that one check may visit, including referenced subschemas. */
const maxWeight = 100_000

/** Creates a tool that calls `operation`. Its schema is created on first use. */
export function operationTool(api: OpenApiDocument, operation: Operation, options: OpenApiToolsOptions, lose: LostParts): AgentTool {
  const { name, operationId, method, path, node, item } = operation
  const where = `${method} ${path}`
  const authorizations = authorizationsOf(api, node, options)
  const inputs = inputsOf(api, { path, item, node, where }, sentByCaller(authorizations, options.headers))
  const plan = { operation, baseUrl: baseUrlOf(api, [node, item], options), inputs, authorizations, options }
  const summary = textField(node, 'summary') ?? textField(item, 'summary')
  const rule = ruleOf(operation, options)
  const reads = method === 'GET' || method === 'HEAD'
  const unsent = inputs.body?.format === 'none' ? inputs.body : undefined
  const noBody = reads && inputs.body !== undefined
  if (noBody) logWarning(options.logger, 'openApiBodyNotSent', { operation: where, mediaTypes: [...inputs.body.mediaTypes] })
  const cookies = [...listField(node, 'parameters'), ...listField(item, 'parameters')].map((written) => dereference(api, written))
  const unsentCookies = cookies.filter((cookie) => field(cookie, 'in') === 'cookie').map((cookie) => textField(cookie, 'name') ?? '')
  if (unsentCookies.length > 0) logWarning(options.logger, 'openApiCookiesNotSent', { operation: where, names: unsentCookies.slice(0, 20) })
  if (unsent !== undefined && !noBody)
    logWarning(options.logger, 'openApiBodyNotSent', { operation: where, mediaTypes: [...unsent.mediaTypes] })
  let parameters: ToolParameters | undefined
  return {
    name,
    label: summary ?? operationId ?? name,
    description: (textField(node, 'description') ?? summary ?? textField(item, 'description') ?? where) + bodyNote(unsent),
    get parameters() {
      parameters ??= parametersOf(api, name, inputs, reads, lose)
      return parameters
    },
    ...(rule !== undefined && { needsApproval: rule }),
    ...(reads && { idempotent: true }),
    execute: (args, ctx) => callOperation(plan, args, ctx.signal),
  }
}

function bodyNote(body: Body | undefined): string {
  return body === undefined ? '' : `\n\n(Its body, ${body.mediaTypes.join(' or ').slice(0, 200)}, cannot be sent by this tool.)`
}

function ruleOf(operation: Operation, { needsApproval }: OpenApiToolsOptions): ApprovalRule | undefined {
  const { node: _, item: __, ...info } = operation
  if (typeof needsApproval === 'function') return (args, { context }) => needsApproval(info, args, { context })
  return needsApproval === 'unsafe' ? operation.method !== 'GET' && operation.method !== 'HEAD' : needsApproval
}

function parametersOf(api: OpenApiDocument, name: string, inputs: Inputs, reads: boolean, lose: LostParts): ToolParameters {
  const writer = new SchemaWriter(api)
  const schema = objectSchema(inputs, reads, (node) => writer.write(node))
  const $defs = writer.definitions()
  if ($defs !== undefined) schema.$defs = $defs
  lose(name, writer.lost)
  try {
    enforceableSchema(schema)
    if (cheapSchema(schema, maxWeight) !== undefined) return schema
    lose(name, new Set(['references that multiply']))
    return onlyShown(
      schema,
      objectSchema(inputs, reads, () => ({})),
    )
  } catch (error) {
    if (!ConfigError.isInstance(error)) throw error
    // A faulty schema must not prevent an agent from starting. The tool still checks names and required arguments.
    lose(name, new Set([error.message]))
    return objectSchema(inputs, reads, () => ({}))
  }
}

/** Shows the model the whole schema but validates only `checked`, because validating the rest could take very long. */
function onlyShown(shown: JsonSchema, checked: JsonSchema): StandardSchema {
  const validate = jsonSchemaValidator.compile(checked)
  return { '~standard': { version: 1, vendor: 'openapi', validate, jsonSchema: { input: () => shown } } }
}

function objectSchema({ parameters, body }: Inputs, reads: boolean, write: (node: unknown) => JsonSchema): JsonSchema {
  const properties: JsonSchema = {}
  const required: string[] = []
  for (const { key, schema, description, isDeprecated, isRequired } of parameters) {
    const notes = { ...(description !== undefined && { description }), ...(isDeprecated && { deprecated: true }) }
    setOwnField(properties, key, { ...write(schema), ...notes })
    if (isRequired) required.push(key)
  }
  if (body !== undefined && body.format !== 'none' && !reads) {
    const { key, schema, description, isRequired } = body
    const written = write(schema)
    setOwnField(properties, key, { ...written, ...(written.description === undefined && description !== undefined && { description }) })
    if (isRequired) required.push(key)
  }
  return { type: 'object', properties, ...(required.length > 0 && { required }), additionalProperties: false }
}
