import { lateChunk } from '../base/late/late-chunk.ts'
import type { JsonSchema } from '../contract/json.ts'
import type { SchemaResult } from '../types/standard-schema.ts'
import { enforceableSchema } from './enforceable-schema.ts'
import { flatIssues, isFlat } from './flat-schema.ts'
import { resultOf } from './format-issues.ts'
import type { interpret } from './schema-interpreter.ts'

/** What is wrong with a value, or the value. A promise only while a part of the program is being loaded. */
export type JsonCheck = (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>

/** Compiles JSON Schemas. Every `SchemaValidator` is one. */
export interface JsonSchemaCompiler {
  compile(schema: JsonSchema): JsonCheck
}

const interpreter = lateChunk('the JSON Schema interpreter', () => import('./schema-interpreter.ts'))

/**
 * What enforces JSON Schemas where a caller gives no `SchemaValidator`.
 *
 * **Contract**
 * - `compile` throws what `enforceableSchema` throws; the schema passed in is neither changed nor kept.
 * - A flat schema (see {@link isFlat}) is checked at once. Any other goes to the interpreter, which is loaded when a value first needs it: that
 *   check is a promise, and rejects with `LoadError` alone; later ones are not.
 * - A value too large or too deeply nested to check, or one that is not JSON, is refused with an issue.
 *
 * Source: docs/concepts/tools.md
 */
export const jsonSchemaValidator: JsonSchemaCompiler = {
  compile(schema) {
    const root = enforceableSchema(schema)
    if (isFlat(root)) return (value) => resultOf(value, (checked) => flatIssues(root, checked))
    let find: ReturnType<typeof interpret> | undefined
    const check = (value: unknown, part: { interpret: typeof interpret }): SchemaResult<unknown> => {
      find ??= part.interpret(root)
      return resultOf(value, find)
    }
    return (value) => {
      const { loaded } = interpreter
      return loaded === undefined ? interpreter.load().then((part) => check(value, part)) : check(value, loaded)
    }
  },
}
