const defaultRegion = 'us-east-1'

/** The region of a model: named by its ARN, else by the AWS host it is called at, else `us-east-1`. */
export function regionOf(id: string, baseUrl: string | undefined): string {
  const named = /^arn:[^:]*:[^:]*:([^:]+):/.exec(id) ?? /\/\/bedrock-runtime(?:-fips)?\.([a-z0-9-]+)\./.exec(baseUrl ?? '')
  return named?.[1] ?? defaultRegion
}

/** The public endpoint of a region. */
export function endpointOf(region: string): string {
  return `https://bedrock-runtime.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
}
