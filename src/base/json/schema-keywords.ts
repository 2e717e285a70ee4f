const words = (text: string): ReadonlySet<string> => new Set(text.split(' '))

/** JSON Schema keywords whose value is one schema. */
export const schemaKeywords: ReadonlySet<string> = words(
  'items additionalProperties not if then else contains propertyNames unevaluatedProperties unevaluatedItems',
)
/** JSON Schema keywords whose value is a list of schemas. */
export const schemaListKeywords: ReadonlySet<string> = words('anyOf oneOf allOf prefixItems')
/** JSON Schema keywords whose value maps arbitrary names to schemas. */
export const namedSchemaKeywords: ReadonlySet<string> = words('properties patternProperties $defs definitions dependentSchemas')
/** JSON Schema keywords whose value is data and contains no schemas. */
export const dataKeywords: ReadonlySet<string> = words('const enum default example examples')
