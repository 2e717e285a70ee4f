/** The files of the demo: a small logbook, in memory, forgotten on reload. */
export const files: Record<string, string> = {
  'README.md': `# Logbook of the Fram\n\nOne file per day in log/. Temperatures in degrees Celsius.\n`,
  'log/monday.md': 'Wind: north-west, force 4\nTemperature: -11\nSighted two walruses. The ice is drifting south.\n',
  'log/tuesday.md': 'Wind: calm\nTemperature: -17\nNo movement. Repaired the sledge.\n',
  'log/wednesday.md': 'Wind: south, force 6\nTemperature: -6\nOpen water ahead. Sighted one walrus.\n',
  'crew.txt': 'Nansen, leader\nSverdrup, captain\nBlessing, doctor\nJohansen, stoker\n',
}
