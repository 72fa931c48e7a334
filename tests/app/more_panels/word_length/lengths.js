PANELS.word_length = (view, data) => ({ element: html("p", {}, data.letters.join(" ")), draw() {} });
