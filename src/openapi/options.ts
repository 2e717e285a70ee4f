import { aLogger } from '../base/argument-checks.ts'
import { isNamed, PhiError } from '../contract/errors.ts'
import type { JsonObject } from '../contract/json.ts'
import { headerFields, isHeaderName } from '../contract/model/request-settings.ts'
import {
  aFlag,
  aFunction,
  anObject,
  aPositiveNumber,
  aSignal,
  aText,
  either,
  kind,
  listOf,
  type OptionTable,
  oneOf,
  options,
  recordOf,
  required,
  texts,
  wholeFrom,
  withMethods,
} from '../contract/shape/shape.ts'
import type { Logger } from '../types/logger.ts'
import type { ApprovalInfo } from '../types/run/question.ts'
import type { Workspace } from '../types/tool/workspace.ts'

/**
 * Reason why a document produces no tools.
 *
 * - `invalidDocument`: it cannot be parsed, or a reference has no target.
 * - `unsupportedVersion`: it is not OpenAPI 3.
 * - `noServer`: it specifies no usable server.
 * - `unavailable`: it could not be fetched.
 */
export type OpenApiErrorCode = 'invalidDocument' | 'unsupportedVersion' | 'noServer' | 'unavailable'

/** Error for an OpenAPI document that cannot be used. Source: docs/guides/openapi.md */
export class OpenApiError extends PhiError<OpenApiErrorCode> {
  override readonly name = 'OpenApiError'

  static override isInstance(value: unknown): value is OpenApiError {
    return isNamed(value, 'OpenApiError')
  }
}

/** Timeout in milliseconds for a call, a document, or one of the document's files. */
export const defaultTimeoutMs = 30_000

/** A key, or a function that returns one for each call. The function gets the call's signal. */
export type OpenApiSecret = string | ((signal: AbortSignal) => string | Promise<string>)

/** Credential of a security scheme: a key or token, or the name and password of `basic`. */
export type OpenApiCredential = OpenApiSecret | { username: string; password: string }

/** Selects operations that match all given criteria. */
export interface OperationFilter {
  operationIds?: readonly string[]
  /** Matches operations with at least one of these tags. */
  tags?: readonly string[]
  /** Matches paths with this prefix, such as `/repos`. */
  pathPrefix?: string
}

/** An operation as filters and approval rules see it. */
export interface OperationInfo {
  /** The operation's tool name. */
  name: string
  /** Absent if the document specifies none. */
  operationId?: string
  /** In upper case. */
  method: string
  /** As in the document, with `{parameters}`. */
  path: string
  tags: readonly string[]
}

/** Whether a call needs approval: always, never, for every method but GET and HEAD (`unsafe`), or by a function. Only `false` skips it. */
export type OperationApproval =
  | boolean
  | 'unsafe'
  | ((operation: OperationInfo, args: JsonObject, info: ApprovalInfo) => boolean | Promise<boolean>)

/**
 * Reads a file that a document refers to, as text or parsed. `url` is its URL if the document was fetched, otherwise its path from the
 * workspace root or relative to the document. Rejects if the file cannot be read.
 */
export type OpenApiResolver = (url: string, context: { signal: AbortSignal }) => Promise<string | object>

/** Options for `openApiTools`. Source: docs/guides/openapi.md */
export interface OpenApiToolsOptions {
  /** Operations to convert to tools. Default: `all`. */
  filter?: 'all' | OperationFilter
  /** Replaces all servers in the document. An absolute http or https URL. */
  baseUrl?: string
  /** Values for server variables. Default: the document's values. */
  serverVariables?: Readonly<Record<string, string>>
  /** Token sent with every call as `Authorization: Bearer …`. */
  bearer?: OpenApiSecret
  /** Key sent with every call in this header. */
  apiKey?: { header: string; value: OpenApiSecret }
  /** Credentials by security scheme name. Sent with operations that require the scheme. */
  credentials?: Readonly<Record<string, OpenApiCredential>>
  /** Headers sent with every call. They override those from arguments and credentials. */
  headers?: Readonly<Record<string, string>>
  /** Timeout in milliseconds for one call, including its response. An agent's `toolTimeoutMs` applies as well. Default: 30,000. */
  timeoutMs?: number
  /** Maximum bytes to read from a response. Default: 65,536. */
  maxResponseBytes?: number
  /** Maximum characters of a YAML document. A million takes about one second and blocks the thread. Default: 1,048,576. */
  maxYamlChars?: number
  /** Reads a document's other files, each within `timeoutMs`. Default: a document with several files is refused. */
  resolve?: OpenApiResolver
  /** Prefix of names: `prefix__operationId`. */
  namePrefix?: string
  /** Names operations without an `operationId` by method and path. Default: they are skipped. */
  nameUnnamed?: boolean
  /** Default: the agent's rule. */
  needsApproval?: OperationApproval
  /** Default: the platform's. */
  fetch?: typeof fetch
  /** Logs skipped operations and schema keywords that are not enforced. Default: the console. `false` disables it. */
  logger?: Logger | false
}

/** Options for `readOpenApiTools`: the workspace of the document, and limits. */
export interface ReadOpenApiOptions extends OpenApiToolsOptions {
  /** Workspace that contains the file. */
  workspace: Workspace
}

/** Options for `fetchOpenApiTools`: those of {@link OpenApiToolsOptions}, and download limits. */
export interface FetchOpenApiOptions extends OpenApiToolsOptions {
  /** Maximum document size in bytes. Default: 64 MiB. */
  maxDocumentBytes?: number
  /** Stops the download. */
  signal?: AbortSignal
}

const aSecret = either(aText, aFunction)
const headerName = kind('the name of a header', (value) => typeof value === 'string' && isHeaderName(value))
const filterTable: OptionTable<OperationFilter> = { operationIds: listOf(aText), tags: listOf(aText), pathPrefix: aText }
const basic = options<{ username: string; password: string }>({ username: required(aText), password: required(aText) })

const table: OptionTable<OpenApiToolsOptions> = {
  filter: either(oneOf('all'), options(filterTable)),
  baseUrl: aText,
  serverVariables: texts,
  bearer: aSecret,
  apiKey: options<{ header: string; value: OpenApiSecret }>({ header: required(headerName), value: required(aSecret) }),
  credentials: recordOf(either(aSecret, basic)),
  headers: headerFields,
  timeoutMs: aPositiveNumber,
  maxResponseBytes: wholeFrom(1),
  maxYamlChars: wholeFrom(1),
  resolve: aFunction,
  namePrefix: aText,
  nameUnnamed: aFlag,
  needsApproval: either(aFlag, aFunction, oneOf('unsafe')),
  fetch: aFunction,
  logger: aLogger,
}

/** Option table of `openApiTools`. */
export const toolsOptions = options(table)
/** Option table of `readOpenApiTools`. */
export const readOptions = options<ReadOpenApiOptions>({
  ...table,
  workspace: required(withMethods('a workspace', 'read', 'stat')),
})
/** Option table of `fetchOpenApiTools`. */
export const fetchOptions = options<FetchOpenApiOptions>({ ...table, maxDocumentBytes: wholeFrom(1), signal: aSignal })
/** A parsed document, or its text. */
export const aDocumentOrText = either(aText, anObject)
