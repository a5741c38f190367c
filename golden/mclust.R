# mclust.json: log-likelihoods of R's mclust on Old Faithful. mclust starts from a hierarchical clustering, once, and
# stops early by default, so its numbers are a bar to clear rather than the maximum (see mixture.json for that).

suppressMessages(library(mclust))

faithful_table <- read.csv("faithful.csv")

entry <- function(name, components) {
  model <- Mclust(faithful_table, G = components, modelNames = name, verbose = FALSE)
  sprintf('  {"name": "%s", "components": %d, "log_likelihood": %.15g, "bic": %.15g, "parameters": %d}',
          name, components, model$loglik, -model$bic, as.integer(model$df))
}

entries <- c(entry("VVV", 2), entry("EEE", 3))
writeLines(c(
  "{",
  sprintf(' "made_with": {"R": "%s", "mclust": "%s"},', getRversion(), packageVersion("mclust")),
  ' "faithful": [', paste(entries, collapse = ",\n"), " ]",
  "}"
), "mclust.json")
cat("mclust.json:", file.size("mclust.json") / 1000, "kB\n")
