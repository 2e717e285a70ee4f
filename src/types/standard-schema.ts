import type { JsonSchema } from '../contract/json.ts'

/** A validation error. `path` leads from the root to the invalid value. */
export interface SchemaIssue {
  message: string
  path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** Validation result: the value, possibly transformed, or the issues. */
export type SchemaResult<Output> = { value: Output; issues?: undefined } | { issues: readonly SchemaIssue[] }

/**
 * The subset of Standard Schema v1 that this package uses: validation, plus JSON Schema conversion if the library supports it.
 * Source: https://standardschema.dev
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    readonly vendor: string
    readonly validate: (value: unknown) => SchemaResult<Output> | Promise<SchemaResult<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
    readonly jsonSchema?: { readonly input: (options: { target: string }) => JsonSchema }
  }
}

/** Output type of a Standard Schema. */
export type SchemaOutput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['output']

/** Input type of a Standard Schema. */
export type SchemaInput<S extends StandardSchema> = NonNullable<S['~standard']['types']>['input']

/**
 * Validates values against JSON Schemas. Default: an interpreter without code generation. `ajvValidator` from `phi-core/tools` is an
 * alternative.
 *
 * **Contract**
 * - `compile` throws `ConfigError` for a schema that it cannot fully enforce. Called once per schema.
 * - The compiled function never throws and never modifies its argument.
 */
export interface SchemaValidator {
  compile(schema: JsonSchema): (value: unknown) => SchemaResult<unknown>
}
