/**
 * Factor for the delays in the demo. `?pace=3` in the URL is slow enough for a live demonstration, and `?pace=0` removes all delays, for
 * screenshots and tests.
 */
export const pace: number = paceIn(location.search)

function paceIn(query: string): number {
  const asked = new URLSearchParams(query).get('pace')
  return asked !== null && /^\d{1,2}(?:\.\d+)?$/.test(asked) ? Number(asked) : 1
}
