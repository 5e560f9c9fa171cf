/** Cycles between folders. Tests are left out: they may use any folder. The rules for files are in .dependency-cruiser.cjs. */
const { options } = require('./.dependency-cruiser.cjs');

module.exports = {
  forbidden: [
    {
      name: 'no-circle-of-folders',
      severity: 'error',
      scope: 'folder',
      comment:
        'Two folders that import each other, or a folder and its subfolder, are one folder: move what both need into a third.',
      from: {
        path: ['^server/src/(commands|domain|http|replies|storage|usecases)', '^(answers|runtime)/src'],
      },
      to: { circular: true },
    },
  ],
  options: { ...options, exclude: { path: '\\.test\\.ts$|^server/testing/' } },
};
